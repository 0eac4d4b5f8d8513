// SPDX-License-Identifier: Apache-2.0

// Package osm reads and writes the files that OpenSM 3.3.23 dumps and loads: forwarding tables, hop counts, the
// subnet. Writers give OpenSM's bytes; readers take what OpenSM and the infiniband-diags write, and name file and
// line of errors.
package osm
