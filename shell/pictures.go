// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/shell/session"
)

// pictureRow is one picture, or what it has beside the others.
type pictureRow struct {
	Picture  string `json:"picture"`
	Title    string `json:"title"`
	Stale    bool   `json:"stale,omitempty"`
	When     string `json:"when"`
	Nodes    int    `json:"nodes"`
	Switches int    `json:"switches"`
	Links    int    `json:"links"`
	CutOff   int    `json:"cut_off"`
	MaxLID   uint16 `json:"highest_lid"`
	Entries  int    `json:"entries"`
	Tables   string `json:"tables,omitempty"`
	SL2VL    bool   `json:"sl2vl"`
	Groups   int    `json:"multicast_groups"`
}

func (r pictureRow) Cells() []any {
	return []any{r.Title, r.When, r.Nodes, r.Switches, r.Links, r.CutOff, r.MaxLID, r.Entries, orDash(r.Tables), yesOrDash(r.SL2VL), r.Groups}
}

// showPictures lists the pictures that there are, what is in each subnet, and what tables they have.
func (c *call) showPictures() error {
	st := c.session.State()
	var rows []pictureRow
	for _, p := range []*session.Picture{st.Live, st.Base, st.WhatIf, st.Staged} {
		if p != nil {
			rows = append(rows, pictureOf(&st, p))
		}
	}
	return c.list([]string{"PICTURE", "AS OF", "NODES", "SWITCHES", "LINKS", "CUT OFF", "HIGHEST LID", "ENTRIES", "TABLES", "SL2VL", "GROUPS"}, eachRow(rows))
}

func pictureOf(st *session.State, p *session.Picture) pictureRow {
	f := p.Fabric
	r := pictureRow{Picture: string(p.Kind), Title: st.Title(p), Stale: st.IsStale(p), When: p.When.Format("15:04:05"), MaxLID: f.MaxLID}
	for i := range f.Nodes {
		switch {
		case !f.Nodes[i].InSubnet:
			r.CutOff++
		case f.Nodes[i].IsSwitch():
			r.Switches++
			r.Nodes++
		default:
			r.Nodes++
		}
	}
	for _, l := range f.Links() {
		if f.Swept(l.A) {
			r.Links++
		}
	}
	if p.Tables == nil {
		return r
	}
	r.Tables, r.SL2VL = p.Tables.Origin, p.Tables.SL2VL != nil
	for sw := range f.Switches {
		for lid := uint16(1); lid <= p.Tables.Top[sw]; lid++ {
			if p.Tables.Port(fabric.SwitchIndex(sw), lid) != fabric.NoPath {
				r.Entries++
			}
		}
	}
	r.Groups = groupsOf(p.Tables)
	return r
}

// groupsOf counts the multicast LIDs that any switch has a port for.
func groupsOf(t *fabric.Tables) (n int) {
	if t.MFT == nil {
		return 0
	}
	for i := range t.MFT.LIDs() {
		for sw := range t.Fabric.Switches {
			if t.MFT.Any(fabric.SwitchIndex(sw), uint16(fabric.FirstMLID+i)) {
				n++
				break
			}
		}
	}
	return n
}

func yesOrDash(yes bool) string { return prose.When(yes, "yes", "-") }
