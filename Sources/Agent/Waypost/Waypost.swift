// Waypost
