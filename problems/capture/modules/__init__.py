"""Networks that no installed model collection offers in an exportable form."""
