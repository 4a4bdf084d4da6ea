// A block of gel above a slit between two rods along y.
SetFactory("OpenCASCADE");
DefineConstant[ size = 0.005 ];
Box(1) = {-0.02, -0.02, 0.024, 0.04, 0.04, 0.06};
Mesh.MeshSizeMax = size;
Physical Volume("block") = {1};
