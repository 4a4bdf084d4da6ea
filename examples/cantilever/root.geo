SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 0.5, 0.1, 0.1};
Physical Volume("root") = {1};
Physical Surface("joint of the root") = {2};
