"""GPU operator times from the tables of ``aiconfigurator-core`` (NVIDIA, Apache-2.0; 5.1b).

The package ships latencies that its authors measured on data-centre GPUs. What our transformer
graphs need of them becomes device and link files: :mod:`.package` reads the tables, :mod:`.work`
says which table answers for a signature, :mod:`.grid` interpolates, :mod:`.estimate` gives the
time, :mod:`.links` derives transfers from collectives, :mod:`.library` writes the files.
"""
