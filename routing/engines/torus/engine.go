// SPDX-License-Identifier: Apache-2.0

// Package torus implements OpenSM's torus-2QoS engine: dimension order routing on a torus or mesh of two or three
// dimensions, with two levels of quality of service (osm_torus.c of OpenSM 3.3.23; torus-2QoS(8)). The routes do not
// deadlock, even around failed links and switches.
package torus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
)

// Engine is torus-2QoS. Its tables, SLs and VLs equal OpenSM's byte for byte. It also routes fabrics that torus-2QoS(8)
// supports but OpenSM 3.3.23 refuses; see Strict.
type Engine struct {
	// Conf describes the torus (torus_config). If Conf is nil, the engine recognises the torus.
	Conf *osm.TorusConf
	// Recognised is the result of [Recognise] for the fabric, or for its state before failures, so that all switches
	// keep their coordinates and all pairs their SLs. It is used if Conf is nil.
	Recognised *osm.TorusConf
	// Unread is the error that occurred when the configuration was read. If it is not nil, the engine refuses to route.
	Unread error
	// NoQoS turns quality of service off (qos FALSE). The engine then refuses to route, like OpenSM's.
	NoQoS bool
	// Strict also refuses a torus that OpenSM refuses although it can be routed without deadlock: a torus of two
	// dimensions with consecutive missing switches along the last dimension.
	Strict bool
}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. Without a configuration it recognises the torus itself ([Recognise]). It refuses a
// fabric that does not match the configuration, a fabric whose failures leave no routes without deadlock, and a fabric
// with fewer than two data VLs. All hop counts are [routing.NoHops], because OpenSM keeps none. O(switches^2 + switches
// x LIDs). Everything except the tables is computed sequentially.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	if err := routing.Check(f, &opt); err != nil {
		return nil, err
	}
	if e.NoQoS {
		return nil, routing.Refuse(Name, "quality of service is off; OpenSM needs qos TRUE (ERR 4E44)")
	}
	if e.Unread != nil {
		return nil, routing.RefuseFile(Name, "read the configuration: %v (ERR 4E11)", e.Unread)
	}
	var warnings []string
	conf := e.Conf
	if conf == nil {
		if conf = e.Recognised; conf == nil {
			r, err := find(ctx, f)
			if err != nil {
				return nil, err
			}
			conf = r.best.Config()
		}
		warnings = append(warnings,
			fmt.Sprintf("no torus_config is given; the subnet was recognised as %s, while OpenSM reads a file",
				sizes(conf)))
	}
	t, more, err := e.layOut(ctx, f, conf, &opt)
	if err != nil {
		return nil, err
	}
	warnings = append(warnings, more...)
	lft, err := t.tables(ctx, opt.Progress)
	if err != nil {
		return nil, err
	}
	if t.tree, err = t.grow(); err != nil {
		return nil, err
	}
	t.slParts = t.newSLParts()
	tables := fabric.NewTables(f, lft, Name)
	tables.SLs = &PathSLs{Torus: t}
	tables.SL2VL = t.sl2vl(dataVLsOf(f, &opt))
	if beyond := t.Beyond(); beyond != "" {
		proof, err := t.prove(ctx, tables)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings,
			fmt.Sprintf("OpenSM 3.3.23 would not route this, although torus-2QoS(8) documents it: %s; %s "+
				"(strict=yes refuses as OpenSM does)", beyond, proof))
	}
	return &routing.Result{Tables: tables, Hops: noHops{}, Multicast: t.tree, Warnings: warnings}, nil
}

// Beyond returns the reason why OpenSM refuses this torus, or "" if OpenSM does not refuse it.
func (t *Torus) Beyond() string {
	if refused, ok := errors.AsType[*routing.RefusedError](t.check(true)); ok {
		return refused.Reason
	}
	return ""
}

// layOut lays out a fabric as the torus that a configuration describes. It also returns warnings.
func (e Engine) layOut(ctx context.Context, f *fabric.Fabric, conf *osm.TorusConf, opt *routing.Options) (*Torus,
	[]string, error) {
	if err := conf.Err(); err != nil {
		return nil, nil, routing.RefuseFile(Name, "parse the configuration: %v", err)
	}
	if err := checkSize(conf); err != nil {
		return nil, nil, err
	}
	l := dataVLsOf(f, opt)
	if l.between < 2 {
		return nil, nil, routing.Refuse(Name, "a link between switches has one data VL, and routes without deadlock "+
			"need two (ERR 4E48)")
	}
	seed, err := chooseSeed(f, conf)
	if err != nil {
		return nil, nil, err
	}
	p, err := place(ctx, f, conf, seed)
	if err != nil {
		return nil, nil, err
	}
	p.inOrder = portOrder(conf)
	if err := p.check(e.Strict); err != nil {
		return nil, nil, err
	}
	return p.Torus, append(l.warnings(), p.warnings()...), nil
}

// warnings returns warnings about the effects of too few VLs.
func (l dataVLs) warnings() (w []string) {
	if l.between < 4 {
		w = append(w, fmt.Sprintf("links between switches have %d data VLs; with fewer than 4 paths around a failed "+
			"switch can deadlock", l.between))
	}
	if l.between < 8 {
		w = append(w, fmt.Sprintf("links between switches have %d data VLs; with fewer than 8 both levels of quality "+
			"of service share them", l.between))
	}
	if l.hosts < 2 {
		w = append(w, "a host has one data VL; with fewer than 2 both levels of quality of service share it")
	}
	return w
}

// warnings returns warnings about differences from the configuration.
func (p *placer) warnings() (w []string) {
	if missing := p.missing(); len(missing) > 0 {
		w = append(w, fmt.Sprintf("%d of %d switches are missing: at %s", len(missing), len(p.at), list(missing)))
	}
	var gaps []string
	for s := range p.switches {
		for g := range hostGroup {
			if p.gap(int32(s), g) {
				gaps = append(gaps, fmt.Sprintf("%s %c%c", p.name(int32(s)), "-+"[g&1], axes[g/2]))
			}
		}
	}
	if gaps != nil {
		w = append(w, prose.Verb(len(gaps), "link of the torus", "is", "are")+
			" missing, as seen from each end: "+list(gaps))
	}
	if n := len(p.overfull); n > 0 {
		w = append(w, prose.Verb(n, "switch", "has", "have")+fmt.Sprintf(" more parallel links than the %d that "+
			"portgroup_max_ports allows; the others carry nothing (ERR 4E17, 4E18)", p.conf.GroupPorts))
	}
	return append(w, p.outside()...)
}

// gap reports whether switch s should have a link in a direction and has none.
func (t *Torus) gap(s int32, group int) bool {
	d, at := group/2, t.switches[s].at[group/2]
	last := 0
	if group&1 == 1 {
		last = t.Radix[d] - 1
	}
	edge := t.Radix[d] == 1 || t.Mesh[d] && at == last
	return !edge && len(t.switches[s].groups[group]) == 0
}

// outside returns warnings about switches and links of the subnet that are not in the torus.
func (p *placer) outside() (w []string) {
	f := p.f
	var switches, links []string
	for s, n := range f.Switches {
		if f.Nodes[n].InSubnet && p.of[s] == absent {
			switches = append(switches, f.NodeName(n))
			w = append(w, p.detached(fabric.SwitchIndex(s))...)
		}
	}
	for i, free := range p.find.free {
		if free && f.Ports[i].Peer > fabric.PortIndex(i) {
			links = append(links, f.PortName(fabric.PortIndex(i))+" to "+f.PortName(f.Ports[i].Peer))
		}
	}
	if switches != nil {
		w = append(w, prose.Verb(len(switches), "switch", "is", "are")+
			" not part of the torus; such switches and their hosts get no routes: "+list(switches))
	}
	if links != nil {
		w = append(w, prose.Verb(len(links), "link", "is", "are")+" not part of the torus: "+list(links))
	}
	return w
}

// detached returns warnings about a switch outside the torus that has lost all links along a dimension. The switch
// belongs at a place in the torus, so rings through this place are split. torus-2QoS(8) requires that such a torus is
// refused.
func (p *placer) detached(sw fabric.SwitchIndex) []string {
	var neighbours []Coordinates
	for i := range p.f.SwitchNode(sw).NumPorts {
		peer := p.f.PeerSwitch(p.f.Port(p.f.Switches[sw], i+1))
		if peer == fabric.None || p.of[peer] == absent {
			continue
		}
		neighbours = append(neighbours, p.switches[p.of[peer]].at)
	}
	for _, c := range p.missing() {
		along := [dims]bool{}
		misfit := slices.ContainsFunc(neighbours, func(at Coordinates) bool {
			d, next := p.step(c, at)
			along[d] = true
			return !next
		})
		if misfit || len(neighbours) == 0 {
			continue
		}
		for d := range dims {
			if p.Radix[d] > 1 && !along[d] {
				return []string{fmt.Sprintf("%s belongs at %s and has no links along %c, which splits that ring: "+
					"torus-2QoS(8) requires this to be refused, but OpenSM 3.3.23 routes around the switch as "+
					"around a "+
					"missing one, and so does ibconsole", p.f.NodeName(p.f.Switches[sw]), c, axes[d])}
			}
		}
	}
	return nil
}

// step returns the dimension in which two places are neighbours. ok is false if they are not neighbours.
func (t *Torus) step(a, b Coordinates) (d int, ok bool) {
	for d := range dims {
		if b == t.around(a.moved(d, 1)) || b == t.around(a.moved(d, -1)) {
			return d, true
		}
	}
	return 0, false
}

// noHops has no path between any switches.
type noHops struct{}

// Least implements [routing.Hops].
func (noHops) Least(fabric.SwitchIndex, fabric.SwitchIndex) uint8 { return routing.NoHops }

// Through implements [routing.Hops].
func (noHops) Through(fabric.SwitchIndex, uint8, fabric.SwitchIndex) uint8 { return routing.NoHops }
