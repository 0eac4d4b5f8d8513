// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/routing/engines/updn"
	"example.org/ibconsole/shell/session"
)

const histogramWord = "histogram"

type histogramRow struct {
	Switch   string        `json:"switch"`
	GUID     string        `json:"guid"`
	LID      uint16        `json:"lid"`
	Hosts    []hostsAtHops `json:"hosts"`
	OverMost int           `json:"distances_over_90_percent"`
	OverFew  int           `json:"distances_over_5_percent"`
	Root     bool          `json:"root"`
}

type hostsAtHops struct {
	Hops  int `json:"hops"`
	Ports int `json:"ports"`
}

func (r histogramRow) Cells() []any {
	var bars []string
	for _, b := range r.Hosts {
		bars = append(bars, fmt.Sprintf("%d:%d", b.Hops, b.Ports))
	}
	root := "no"
	if r.Root {
		root = "yes"
	}
	return []any{root, r.OverMost, r.OverFew, strings.Join(bars, " "), r.GUID, r.Switch}
}

// showHistograms lists what updn judges by whether switches are roots, also where it finds none.
func (c *call) showHistograms(st *session.State, p *session.Picture) error {
	opt := st.Settings.Job().Options
	all, hosts, err := updn.Histograms(c.ctx, p.Fabric, &opt)
	if err != nil {
		return err
	}
	c.out.note("of %s: %s; updn takes a switch for a root if more than 90 %% of them lie at one distance from it and more than 5 %% at no other",
		st.Title(p), count(hosts, "host port"))
	if given(st, "root_guid_file") && !opt.DetectRoots {
		c.out.note("root_guid_file names the roots: updn looks for none itself")
	}
	if slices.Contains(st.Settings.Chain, (updn.DnUp{}).Name()) {
		c.out.note("dnup looks for no roots: it ranks switches by their distance from the hosts")
	}
	var rows []histogramRow
	for i := range all {
		rows = append(rows, histogramRowOf(p, &all[i]))
	}
	return c.list([]string{"ROOT", ">90%", ">5%", "HOPS:HOSTS", "GUID", "NAME"}, eachRow(rows))
}

func histogramRowOf(p *session.Picture, h *updn.Histogram) histogramRow {
	f := p.Fabric
	r := histogramRow{Switch: f.NodeName(f.Switches[h.Switch]), GUID: guidText(f.SwitchNode(h.Switch).GUID), LID: f.SwitchLID(h.Switch),
		OverMost: h.OverMost, OverFew: h.OverFew, Root: h.Root()}
	for hops, n := range h.Ports {
		if n > 0 {
			r.Hosts = append(r.Hosts, hostsAtHops{hops, n})
		}
	}
	return r
}
