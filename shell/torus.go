// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

var errNoTorus = errors.New("these tables are not those of torus-2QoS (try: engine torus-2QoS; route)")

// masterTree names the tree of all switches, of which the trees of groups are parts.
const masterTree = "master"

func torusOptions() []lang.Option {
	return append([]lang.Option{
		{Name: "path", Kind: lang.KindPlace, Value: "A,B", List: true, Summary: "the path from one place to another, with what happens at each hop"},
		{Name: "tree", Kind: lang.KindText, Words: []string{masterTree}, Value: "MLID", Summary: "the tree of a multicast group; master: that of all switches"},
	}, feature.AskedOptions()...)
}

func (c *call) showTorus(st *session.State, p *session.Picture) error {
	t, ok := torus.Of(p.Tables)
	if !ok {
		return errNoTorus
	}
	m := newTorusMap(t, p.Fabric, st.Title(p))
	if tree := c.Option("tree", ""); tree != "" {
		along, err := treeAlong(t, p.Tables, tree)
		if err != nil {
			return err
		}
		for i := range m.rows {
			m.rows[i].Tree = along(m.rows[i].sw)
		}
	}
	if ends := c.Option("path", ""); ends != "" {
		if err := c.pathOnTorus(st, p, ends, m); err != nil {
			return err
		}
	}
	return c.out.Answer(&List{Rows: eachRow(m.rows), Drawn: m})
}

// treeAlong says in which directions the tree of a multicast LID leads on from a switch.
func treeAlong(t *torus.Torus, tables *fabric.Tables, name string) (func(fabric.SwitchIndex) []string, error) {
	if name == masterTree {
		return t.MasterTree().Along, nil
	}
	mlid, err := feature.ParseMLID(name)
	if err != nil {
		return nil, err
	}
	if tables.MFT == nil || mlid > tables.MFT.Top {
		return nil, fmt.Errorf("multicast LID %s has no tree here (try: show torus tree=%s)", feature.MLIDText(mlid), masterTree)
	}
	return func(sw fabric.SwitchIndex) []string { return t.GroupLinks(tables.MFT, sw, mlid) }, nil
}

// pathOnTorus traces the path between two places onto a map.
func (c *call) pathOnTorus(st *session.State, p *session.Picture, ends string, m *torusMap) error {
	pair, err := feature.PairWithComma(p.Fabric, ends)
	if err != nil {
		return err
	}
	asked, err := c.feature().Asked()
	if err != nil {
		return err
	}
	g, err := st.Grants(p, asked)
	if err != nil {
		return err
	}
	path, answer := c.traced(st, p, g, pair)
	m.path = answer
	for i, h := range path.Hops {
		if row := m.bySwitch[p.Fabric.Nodes[h.Node].Switch]; row != nil && row.Path == nil {
			row.Path = &answer.Hops[i]
		}
	}
	return nil
}
