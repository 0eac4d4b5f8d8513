// SPDX-License-Identifier: Apache-2.0

// Package torus is OpenSM's torus-2QoS engine: dimension order routing on a torus or mesh of two or three
// dimensions that does not deadlock, also around failed links and switches, with two levels of quality of
// service (osm_torus.c of OpenSM 3.3.23; torus-2QoS(8)).
package torus
