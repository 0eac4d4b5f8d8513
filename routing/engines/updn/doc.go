// SPDX-License-Identifier: Apache-2.0

// Package updn holds the engines that rank switches and keep packets from turning the wrong way: up/down and
// down/up routing (osm_ucast_updn.c and osm_ucast_dnup.c of OpenSM 3.3.23). Both give the tables that OpenSM
// computes, to the byte.
package updn
