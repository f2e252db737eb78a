"use strict";
// Before anything is painted: the theme that was chosen, if one was. A page of file:// may have no
// storage; then the choice holds for the page only.
const theme = {
  get: () => { try { return localStorage.getItem("placebench-theme") || ""; } catch { return ""; } },
  set: (value) => {
    try { localStorage.setItem("placebench-theme", value); } catch { /* holds for this page */ }
    theme.apply(value);
  },
  apply: (value) => {
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
  },
};
theme.apply(theme.get());
