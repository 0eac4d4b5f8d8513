// SPDX-License-Identifier: Apache-2.0

// Package osm reads and writes the files that OpenSM 3.3.23 dumps and loads: forwarding tables, hop counts, the subnet
// and configuration files. Writers produce the same bytes as OpenSM. Readers accept the output of OpenSM and
// infiniband-diags. Errors contain the file name and the line.
package osm
