"""How children end: exits noticed, groups and what escaped them ended, nothing outliving us."""
