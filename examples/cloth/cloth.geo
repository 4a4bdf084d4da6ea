SetFactory("OpenCASCADE");
Rectangle(1) = {-0.5, -0.5, 0.256, 1, 1};
Physical Surface("cloth") = {1};
