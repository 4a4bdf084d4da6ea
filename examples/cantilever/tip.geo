SetFactory("OpenCASCADE");
Box(1) = {0.5, 0, 0, 0.5, 0.1, 0.1};
Physical Volume("tip") = {1};
Physical Surface("joint of the tip") = {1};
Mesh.MeshSizeFactor = 0.45;
