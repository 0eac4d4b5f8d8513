// SPDX-License-Identifier: Apache-2.0

// Package snapshot writes a subnet with its tables into one file, and reads it back exactly as it was:
// indexes, descriptions, LIDs, forwarding tables, lanes, service levels and multicast.
//
// A file is the eight bytes "IBCSNAP\x01" and behind them one zstd frame with a
// checksum. In it stand sections, each a name, a length and as many bytes, the
// name and all numbers as unsigned varints and strings with their length first:
//
//	fabric  the SM's port + 1, then the nodes in order, each with its ports
//	lft     origin, highest LID, then of each switch: known, LinearFDBTop, the
//	        row from LID 0 to the highest
//	sl2vl   of each node, in and out port: 16 lanes
//	sls     of each source the row of service levels by LID, equal rows once
//	mft     the highest multicast LID, then of each switch and LID the port set
//	routing engine, options, roots, and the min-hop tables: of each pair of
//	        switches the hops, then the ports as words of 8 bytes, lowest first
//
// A section that a reader does not know is passed over.
package snapshot
