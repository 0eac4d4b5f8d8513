// SPDX-License-Identifier: Apache-2.0

// Package ucastcache says when routes need no computation: it is OpenSM's unicast
// routing cache (use_ucast_cache, -A; osm_ucast_cache.c of OpenSM 3.3.23).
//
// A leaf is a switch that a channel adapter or router was attached to when the routes were
// made. From then on the tables stay as they are, entries for LIDs that are gone
// included, while
//
//   - adapters, routers and their links go and come back,
//   - whole leaves go and come back with all their links between switches, unless a
//     leaf that stays was linked to one that goes,
//   - links go and come back between two sweeps, as when a node starts anew.
//
// Everything else makes the tables invalid: a switch that is no leaf goes, a link
// between switches that are both there goes, a node or link comes that was not
// there, a cable leads elsewhere, a node comes back with another LID.
//
// Where a switch comes back, [Cache.After] also minds in which order a sweep finds its
// links.
//
// OpenSM compares each sweep with what it noted in those before. What holds all the
// way depends only on the subnet when the routes were made and on the subnet now,
// which is what is compared here. Two things of OpenSM are not: it also drops its
// cache when it cannot route a multicast group over the leaves that are left (ERR
// 0A1E), and when it is told to reroute or takes over from another subnet manager.
package ucastcache
