// SPDX-License-Identifier: Apache-2.0

// Package reach follows the packets of every pair of end ports through the
// tables and says which arrive, over how many links, and where the others end.
//
// Pairs are the ordered pairs of distinct end ports of channel adapters and routers, and on demand of
// switches. A destination with an LMC is reached over one path for each of its LIDs. No path is sampled, but
// none is walked alone either: see package trees.
package reach
