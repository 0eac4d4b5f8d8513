// SPDX-License-Identifier: Apache-2.0

// Package lash is layered shortest path routing: shortest paths between switches are put into as many VLs as
// it takes for none to have a cycle of dependencies (Skeie, Lysne and Theiss, "Layered Shortest Path (LASH)
// Routing in Irregular System Area Networks", CAC 2002). It gives the tables that OpenSM computes, to the
// byte, in as many VLs (osm_ucast_lash.c, osm_mesh.c of OpenSM 3.3.23).
package lash
