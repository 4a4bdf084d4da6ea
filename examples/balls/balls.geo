// Two balls of radius 1 with a gap of 0.5 between them; some 915 tetrahedra and 260 nodes each (thesis: 864, 250).
SetFactory("OpenCASCADE");
size = 0.29;
Sphere(1) = {-1.25, 0, 0, 1};
Sphere(2) = {1.25, 0, 0, 1};
Physical Volume("target") = {1};
Physical Volume("incoming") = {2};
Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
