// The plate with a crack of 0.1 m at 45 degrees.
If (!Exists(angle)) angle = Pi / 4; EndIf
half = 0.05;
tip = 0.002;
Include "plate.geo";
