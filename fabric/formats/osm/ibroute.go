// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"

	"example.org/ibconsole/fabric"
)

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

// lostLID is the last LID of a table of ibroute's or dump_fts's, "[0x0-0x40]", where it is a multiple of 64:
// these tools read one block too few then and do not print it (infiniband-diags, ibroute.c and dump_fts.c).
func lostLID(header []byte) (lid uint64, ok bool) {
	_, rest, found := bytes.Cut(header, []byte("-0x"))
	if !found {
		return 0, false
	}
	lid, rest, ok = parseHex(rest, 16)
	return lid, ok && lid > 0 && lid%fabric.BlockSize == 0 && len(rest) > 0 && rest[0] == ']'
}
