"""Input: expectations of growth and measurements. Output: verdicts (Shudler 2018, secs. 3.2 to
3.4).
"""
