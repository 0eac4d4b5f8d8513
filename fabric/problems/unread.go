// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
)

// Unread tells what of a file could not be read.
func (r *Report) Unread(l *unread.List) {
	for _, f := range l.Findings {
		at := Place{GUID: f.Node, Port: f.Port}
		kind, try := NotRead, "mend the line, or have the file printed anew"
		switch f.Kind {
		case unread.Truncated:
			try = "copy the file again, or have it printed anew"
		case unread.GUID:
			kind, try = DuplicateGUID, "is a node in the file twice? Of two with one GUID one needs another: its "+
				"firmware was copied (mlxfwmanager, flint)"
		case unread.LID:
			kind, try = DuplicateLID, "is the file of one moment? Then restart the subnet manager; two of them may "+
				"be at work"
		}
		r.Add(kind, at, try, "%v", f)
	}
	if more := l.Count - len(l.Findings); more > 0 {
		r.Add(NotRead, Nowhere, "mend these first; strict=yes stops at the first", "%s could not be read",
			prose.Count(more, "more thing"))
	}
}

// Alone finds nodes that no link leads to. O(ports).
func (r *Report) Alone(f *fabric.Fabric) {
	for i := range f.NumNodes() {
		linked := false
		for p := range f.Nodes[i].Ports() {
			linked = linked || f.Ports[p].Linked()
		}
		if !linked {
			r.Add(Alone, PlaceOfNode(f, i), "is it cabled and up? ibstat there; show ports "+f.NodeName(i),
				"%s has no link", f.NodeName(i))
		}
	}
}
