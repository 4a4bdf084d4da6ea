SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 10, 1, 1};
Box(2) = {10.1, 0, 0, 10, 1, 1};
Physical Volume("left") = {1};
Physical Volume("right") = {2};
