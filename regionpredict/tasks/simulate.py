def simulate(): pass
