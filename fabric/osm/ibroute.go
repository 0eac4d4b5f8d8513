// SPDX-License-Identifier: Apache-2.0

package osm

import "bytes"

// sectionName is the switch's name in what follows its GUID in a header:
// ('leaf-01'): as OpenSM writes it, (leaf-01): as ibroute and dump_fts do.
func sectionName(rest []byte) string {
	rest = bytes.TrimRight(bytes.TrimSpace(rest), ":")
	if len(rest) < 2 || rest[0] != '(' || rest[len(rest)-1] != ')' {
		return ""
	}
	rest = rest[1 : len(rest)-1]
	if n := len(rest); n >= 2 && rest[0] == '\'' && rest[n-1] == '\'' {
		rest = rest[1 : n-1]
	}
	return string(rest)
}

// isHeading recognises the two lines that ibroute and dump_fts print above a table.
func isHeading(text []byte) bool {
	return bytes.HasPrefix(text, []byte("Lid  Out")) || bytes.HasPrefix(text, []byte("Port     Info"))
}
