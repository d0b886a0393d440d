"""What an experiment leaves for people: figures, diagrams, animations, files."""
