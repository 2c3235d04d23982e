"""Efficiencies over threads and sizes from run times, their models, and conclusions.

Input: `IsoefficiencyData`, measured by `campaign` or read from its file. Output: `Isoefficiency`,
the answers to the five questions of Shudler 2018, sec. 5.1.
"""
