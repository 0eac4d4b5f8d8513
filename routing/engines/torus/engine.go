// SPDX-License-Identifier: Apache-2.0

// Package torus is OpenSM's torus-2QoS engine: dimension order routing on a torus or mesh of two or three
// dimensions that does not deadlock, also around failed links and switches, with two levels of quality of
// service (osm_torus.c of OpenSM 3.3.23; torus-2QoS(8)).
package torus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
)

// Engine is torus-2QoS. It gives the tables, SLs and VLs that OpenSM computes, to the byte. It also routes,
// as torus-2QoS(8) has it, what OpenSM 3.3.23 refuses; see Strict.
type Engine struct {
	// Conf says which torus the fabric is (torus_config). Without it the engine finds out itself.
	Conf *osm.TorusConf
	// Recognised is what [Recognise] made of the fabric, or of what it was before failures, so that all switches
	// have the coordinates and all pairs the SLs that they had then. It is for want of Conf.
	Recognised *osm.TorusConf
	// Unread says why the configuration could not be read, for which the engine refuses to route.
	Unread error
	// NoQoS says that quality of service is off (qos FALSE), with which OpenSM's engine refuses to route.
	NoQoS bool
	// Strict refuses what OpenSM refuses though it can be routed without deadlock: switches that are missing
	// one beside the other along the last dimension of a torus of two dimensions.
	Strict bool
}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. Without a configuration it looks for the torus itself ([Recognise]). It
// refuses a fabric that is not the torus of the configuration, one whose failures leave no routes without
// deadlock, and one with fewer than two data VLs. Hop counts are all [routing.NoHops]: OpenSM keeps none.
// O(switches^2 + switches x LIDs). Serial is all but the tables.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	if err := routing.Check(f, &opt); err != nil {
		return nil, err
	}
	if e.NoQoS {
		return nil, routing.Refuse(Name, "quality of service is off; OpenSM needs qos TRUE (ERR 4E44)")
	}
	if e.Unread != nil {
		return nil, routing.RefuseFile(Name, "there is no configuration: %v (ERR 4E11)", e.Unread)
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
	t, more, err := e.lay(ctx, f, conf, &opt)
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
			fmt.Sprintf("OpenSM 3.3.23 would not route this, though torus-2QoS(8) says that it does: for it %s; %s "+
				"(strict=yes refuses as OpenSM does)", beyond, proof))
	}
	return &routing.Result{Tables: tables, Hops: noHops{}, Multicast: t.tree, Warnings: warnings}, nil
}

// Beyond says why OpenSM refuses this torus, "" where it does not.
func (t *Torus) Beyond() string {
	if refused, ok := errors.AsType[*routing.RefusedError](t.check(true)); ok {
		return refused.Reason
	}
	return ""
}

// lay lays a fabric out by a configuration, and says what is noticed.
func (e Engine) lay(ctx context.Context, f *fabric.Fabric, conf *osm.TorusConf, opt *routing.Options) (*Torus,
	[]string, error) {
	if err := conf.Err(); err != nil {
		return nil, nil, routing.RefuseFile(Name, "its configuration cannot be read: %v", err)
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

// warnings say what too few VLs do not allow.
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

// warnings say what is not as the configuration has it.
func (p *placer) warnings() (w []string) {
	if missing := p.missing(); len(missing) > 0 {
		w = append(w, fmt.Sprintf("%d of %d switches are missing: at %s", len(missing), len(p.at), few(missing)))
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
		w = append(w, fmt.Sprintf("%d links of the torus are missing, as seen from each end: %s", len(gaps), few(gaps)))
	}
	if n := len(p.overfull); n > 0 {
		w = append(w, fmt.Sprintf("%d switches have more parallel links than the %d that portgroup_max_ports allows; "+
			"the others carry nothing (ERR 4E17, 4E18)", n, p.conf.GroupPorts))
	}
	return append(w, p.strangers()...)
}

// gap reports whether a switch should have a link in a direction and has none.
func (t *Torus) gap(s int32, group int) bool {
	d, at := group/2, t.switches[s].at[group/2]
	last := 0
	if group&1 == 1 {
		last = t.Radix[d] - 1
	}
	edge := t.Radix[d] == 1 || t.Mesh[d] && at == last
	return !edge && len(t.switches[s].groups[group]) == 0
}

// strangers are switches and links of the subnet that are not in the torus.
func (p *placer) strangers() (w []string) {
	f := p.f
	var switches, links []string
	for s, n := range f.Switches {
		if f.Nodes[n].InSubnet && p.of[s] == absent {
			switches = append(switches, f.NodeName(n))
			w = append(w, p.cutOff(fabric.SwitchIndex(s))...)
		}
	}
	for i, free := range p.find.free {
		if free && f.Ports[i].Peer > fabric.PortIndex(i) {
			links = append(links, f.PortName(fabric.PortIndex(i))+" to "+f.PortName(f.Ports[i].Peer))
		}
	}
	if switches != nil {
		w = append(w, fmt.Sprintf("%d switches are not part of the torus and get no routes, nor do their hosts: %s",
			len(switches), few(switches)))
	}
	if links != nil {
		w = append(w, fmt.Sprintf("%d links are not part of the torus: %s", len(links), few(links)))
	}
	return w
}

// cutOff says of a switch outside the torus that it belongs at a place from which it has lost all links along
// a dimension, so that rings through it are in pieces. torus-2QoS(8) has such a torus refused.
func (p *placer) cutOff(sw fabric.SwitchIndex) []string {
	var beside []Coordinates
	for i := range p.f.SwitchNode(sw).NumPorts {
		peer := p.f.PeerSwitch(p.f.Port(p.f.Switches[sw], i+1))
		if peer == fabric.None || p.of[peer] == absent {
			continue
		}
		beside = append(beside, p.switches[p.of[peer]].at)
	}
	for _, c := range p.missing() {
		along := [dims]bool{}
		strange := slices.ContainsFunc(beside, func(at Coordinates) bool {
			d, next := p.step(c, at)
			along[d] = true
			return !next
		})
		if strange || len(beside) == 0 {
			continue
		}
		for d := range dims {
			if p.Radix[d] > 1 && !along[d] {
				return []string{fmt.Sprintf("%s belongs at %s and has no links along %c, which cuts that ring in "+
					"pieces: torus-2QoS(8) has this refused, "+
					"but OpenSM 3.3.23 routes around the switch as around a missing one, and so do we",
					p.f.NodeName(p.f.Switches[sw]), c, axes[d])}
			}
		}
	}
	return nil
}

// step is the dimension in which two places follow one another, false where they do not.
func (t *Torus) step(a, b Coordinates) (d int, ok bool) {
	for d := range dims {
		if b == t.around(a.moved(d, 1)) || b == t.around(a.moved(d, -1)) {
			return d, true
		}
	}
	return 0, false
}

// noHops are hop counts that nobody counted.
type noHops struct{}

// Least implements [routing.Hops].
func (noHops) Least(fabric.SwitchIndex, fabric.SwitchIndex) uint8 { return routing.NoHops }

// Through implements [routing.Hops].
func (noHops) Through(fabric.SwitchIndex, uint8, fabric.SwitchIndex) uint8 { return routing.NoHops }
