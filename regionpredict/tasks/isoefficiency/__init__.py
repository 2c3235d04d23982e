"""Run times over threads and sizes -> efficiencies, their models, and what they tell.

In: `IsoefficiencyData`, measured by `campaign` or read from its file. Out: `Isoefficiency`, the
answers to the five questions of Shudler 2018, sec. 5.1.
"""
