// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Dot writes an undirected graph for dot, with the switches, their numbers of hosts, and the links between them.
// Parallel links are one edge, labelled with their number.
func (r *Report) Dot(w io.Writer) error {
	p := &printer{w: w}
	f := r.fabric
	paths := map[[2]fabric.SwitchIndex]int64{}
	cables := map[[2]fabric.SwitchIndex]int{}
	var edges [][2]fabric.SwitchIndex
	next := 0
	for i := range f.Ports {
		to := f.PeerSwitch(fabric.PortIndex(i))
		from := f.Nodes[f.Ports[i].Node].Switch
		if to == fabric.None || from == fabric.None {
			continue
		}
		e := [2]fabric.SwitchIndex{min(from, to), max(from, to)}
		if cables[e] == 0 {
			edges = append(edges, e)
		}
		cables[e]++ // once from each end
		if next < len(r.Ports) {
			if n := r.Ports[next].Paths; n != nil {
				paths[e] = max(paths[e], *n)
			}
			next++
		}
	}
	p.f("graph subnet {\n  label=%s;\n  node [shape=box, fontname=\"sans-serif\"];\n", dotString(r.Title))
	hosts := make([]int, len(f.Switches))
	for _, e := range f.EndPorts {
		if sw, port := f.AttachedSwitch(e); sw != fabric.None && port != 0 {
			hosts[sw]++
		}
	}
	var leaves []string
	for sw := range f.Switches {
		label := f.NodeName(f.Switches[sw])
		if hosts[sw] > 0 {
			label += fmt.Sprintf("\n%d hosts", hosts[sw])
			leaves = append(leaves, fmt.Sprintf("s%d", sw))
		}
		p.f("  s%d [label=%s];\n", sw, dotString(label))
	}
	if len(leaves) > 0 && len(leaves) < len(f.Switches) {
		p.f("  { rank=max; %s; }\n", strings.Join(leaves, "; "))
	}
	slices.SortStableFunc(edges, func(a, b [2]fabric.SwitchIndex) int { return slices.Compare(a[:], b[:]) })
	for _, e := range edges {
		n := cables[e] / 2
		label := prose.When(n > 1, fmt.Sprintf("%dx", n), "")
		tooltip := "paths unknown"
		if most, isKnown := paths[e]; isKnown {
			tooltip = fmt.Sprintf("at most %d paths over one cable", most)
		}
		p.f("  s%d -- s%d [label=%s, tooltip=%s];\n", e[0], e[1], dotString(label), dotString(tooltip))
	}
	p.f("}\n")
	return p.err
}

// dotString quotes text for dot, in which a backslash begins an escape and & begins a character reference.
func dotString(s string) string {
	s = strings.ReplaceAll(s, "&", "&amp;")
	s = strings.ReplaceAll(s, `\`, `\\`)
	s = strings.ReplaceAll(s, `"`, `\"`)
	s = strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' || c == 0x7f || c == 0xfffd {
			return '?'
		}
		return c
	}, s)
	return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"`
}

// HTML writes a self-contained page without scripts. It shows figures, plots as SVG, and the links with the most paths.
func (r *Report) HTML(w io.Writer) error {
	p := &printer{w: w}
	p.f(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Routing of an InfiniBand subnet</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid #ddd}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}svg{max-width:100%%;height:auto}
</style></head><body>
<h1>Routing of an InfiniBand subnet</h1>
<table>
`)
	for _, f := range r.figures() {
		p.f("<tr><th>%s</th><td>%s</td></tr>\n", html.EscapeString(f[0]), html.EscapeString(f[1]))
	}
	p.f("</table>\n")
	if t := r.Routing; t != nil {
		p.f("<h2>Paths by number of links</h2>\n")
		var bars []bar
		for links, n := range t.Links {
			if n > 0 {
				bars = append(bars, bar{fmt.Sprint(links), n})
			}
		}
		p.bars(bars, "links", "paths")
		p.f("<h2>Links between switches by number of paths</h2>\n<p>Each direction of a link is counted, for paths " +
			"from all hosts to all.</p>\n")
		p.bars(histogram(r.known()), "paths over a link", "directions of links")
	}
	p.f("<h2>The subnet</h2>\n")
	r.svg(p, "")
	p.f("<h2>Links with the most paths</h2>\n<table>\n<tr><th>from</th><th>to</th><th>link</th><th " +
		"class=n>paths</th><th class=n>LIDs</th></tr>\n")
	for _, x := range r.worst() {
		p.f("<tr><td>%s/%d</td><td>%s/%d</td><td>%s%s</td><td class=n>%d</td><td class=n>%d</td></tr>\n",
			html.EscapeString(x.From), x.Out, html.EscapeString(x.To), x.In, x.Width, x.Speed, *x.Paths, *x.LIDs)
	}
	p.f("</table>\n</body></html>\n")
	return p.err
}
