// Ten 3/8-inch beads along z, 10 nm apart; some 2800 tetrahedra each (thesis: 2848).
SetFactory("OpenCASCADE");
count = 10;
size = 0.96e-3;
D = 9.525e-3;
For k In {1:count}
  Sphere(k) = {0, 0, (k - 1) * (D + 1e-8), D / 2};
  Physical Volume(Sprintf("bead%g", k)) = {k};
EndFor
Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
