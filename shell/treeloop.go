// SPDX-License-Identifier: Apache-2.0

package shell

import "example.org/ibconsole/routing/engines/torus"

// treeLoop is a credit loop of torus-2QoS's multicast tree with unicast.
type treeLoop struct {
	Links int    `json:"links"`
	Root  string `json:"root"`
	// ClearRoot is the root with which there is none, "" where none was found. Moved is by how many places the
	// datelines are others then, and OtherSLs how many of the pairs of switches get other SLs.
	ClearRoot string             `json:"clear_root,omitempty"`
	Moved     *torus.Coordinates `json:"datelines_moved,omitempty"`
	OtherSLs  int                `json:"other_sls"`
	Pairs     int                `json:"switch_pairs"`
}

func treeLoopOf(l *torus.TreeLoop) *treeLoop {
	if l == nil {
		return nil
	}
	a := &treeLoop{Links: l.Links, Root: l.SwitchName(l.MasterTree().Root), OtherSLs: l.Others, Pairs: l.Pairs}
	if l.Clear != nil {
		a.ClearRoot, a.Moved = l.SwitchName(l.Root), &l.Moved
	}
	return a
}
