count = 5;
Include "beads.geo";
