// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
)

// TreeLoop is a credit loop of unicast paths together with a multicast group of all hosts. Such a loop exists if a
// switch in the middle row is missing, with the tree of torus-2QoS(8) and OpenSM. The root is then outside this row.
// Multicast packets that arrive in the row turn where unicast packets turn around the missing switch.
type TreeLoop struct {
	*Torus
	Links int // the number of links of the loop
	// Clear is a configuration with different datelines, and therefore a different root, that has no loop. It is nil if
	// no such configuration was found. Shift is the number of places by which the datelines differ.
	Clear *osm.TorusConf
	Shift Coordinates
	// Root is the root with the configuration Clear. Pairs is the number of pairs of switches. OtherSLs is the number
	// of those pairs whose SLs differ with Clear.
	Root            fabric.SwitchIndex
	OtherSLs, Pairs int
}

// TreeLoop searches for a credit loop of tables of this torus together with multicast, and then for datelines without
// such a loop. It returns nil for a torus without missing switches, because its tree needs no check. It also returns
// nil for tables of a different fabric, which the engine did not compute now.
//
// TreeLoop takes one check and O(switches). If there is a loop, it also takes at most as many routes and checks as the
// torus has places along its axes.
func (t *Torus) TreeLoop(ctx context.Context, tables *fabric.Tables, opt routing.Options) (*TreeLoop, error) {
	if t.f != tables.Fabric || len(t.missing()) == 0 {
		return nil, nil
	}
	r, err := t.withAllHosts(ctx, tables)
	if err != nil || r.Ring == nil {
		return nil, err
	}
	l := &TreeLoop{Torus: t, Links: len(r.Ring), Root: fabric.None}
	for d := dims - 1; d >= 0; d-- { // the dimension routed last is the most likely
		for i := 1; i < t.Radix[d] && !t.Mesh[d]; i++ {
			// Begin with a shift of half of the ring. It moves the missing switches farthest away from the middle,
			// where the root should be.
			found, err := l.try(ctx, Coordinates{}.moved(d, 1+(i-1+t.Radix[d]/2-1)%(t.Radix[d]-1)), opt)
			if err != nil || found {
				return l, err
			}
		}
	}
	return l, nil
}

// HasMissing reports whether switches of the torus are missing.
func (t *Torus) HasMissing() bool { return len(t.missing()) > 0 }

// try moves the datelines. It reports whether the moved torus has no loop.
func (l *TreeLoop) try(ctx context.Context, by Coordinates, opt routing.Options) (bool, error) {
	res, err := Engine{Conf: l.movedBy(by)}.Route(ctx, l.f, opt)
	if _, refused := errors.AsType[*routing.RefusedError](err); refused {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	other, _ := Of(res.Tables)
	r, err := other.withAllHosts(ctx, res.Tables)
	if err != nil || r.Ring != nil {
		return false, err
	}
	l.Clear, l.Shift, l.Root = other.Config(), by, other.tree.Root
	l.compare(other)
	return true, nil
}

// movedBy returns the configuration in which all coordinates are moved up.
func (t *Torus) movedBy(by Coordinates) *osm.TorusConf {
	conf := *t.conf
	conf.Seeds = slices.Clone(conf.Seeds)
	for i := range conf.Seeds {
		line := &conf.Seeds[i].Dateline
		for d, n := range by {
			line[d] = -int32(wrap(n-int(line[d]), t.Radix[d]))
		}
	}
	return &conf
}

// compare counts the pairs of switches whose SLs differ between two tori.
func (l *TreeLoop) compare(other *Torus) {
	for a := range l.switches {
		for b := range l.switches {
			if a == b {
				continue
			}
			l.Pairs++
			if l.between(int32(a), int32(b)) != other.between(other.of[l.switches[a].sw], other.of[l.switches[b].sw]) {
				l.OtherSLs++
			}
		}
	}
}

// String describes the loop and its remedy.
func (l *TreeLoop) String() string {
	text := fmt.Sprintf("multicast to all hosts along the tree from %s has, together with unicast, a credit loop of "+
		"%d links around the missing switches at %s; torus-2QoS(8) shows that tree as free of loops, and OpenSM "+
		"computes it, too", l.name(l.tree.root), l.Links, list(l.missing()))
	if l.Clear == nil {
		return text + "; none of the tried datelines avoids it"
	}
	for d, by := range l.Shift {
		if by != 0 {
			text += fmt.Sprintf("; with the %c dateline %d further down, the root is %s and there is no loop", axes[d],
				by, l.SwitchName(l.Root))
		}
	}
	return text + fmt.Sprintf(", but %d of %d pairs of switches get other SLs, which their hosts must query again",
		l.OtherSLs, l.Pairs)
}

// prove returns a refusal if the tables have a credit loop together with a multicast group of all hosts.
func (t *Torus) prove(ctx context.Context, tables *fabric.Tables) (string, error) {
	r, err := t.withAllHosts(ctx, tables)
	switch {
	case err != nil:
		return "", err
	case r.Ring != nil:
		return "", routing.Refuse(Name, "paths around the missing switches at %s have a credit loop of %d links",
			list(t.missing()), len(r.Ring))
	}
	return fmt.Sprintf("unicast and multicast are proved free of credit loops, %d channels with %d dependencies",
		r.Channels, r.Dependencies), nil
}

// withAllHosts checks for a credit loop of unicast paths together with a multicast group of all hosts.
func (t *Torus) withAllHosts(ctx context.Context, tables *fabric.Tables) (*credits.Result, error) {
	var members []fabric.PortIndex
	for s := range t.switches {
		n := t.f.SwitchNode(t.switches[s].sw)
		for _, p := range t.switches[s].groups[hostGroup] {
			if p != 0 {
				members = append(members, t.f.Ports[n.FirstPort+fabric.PortIndex(p)].Peer)
			}
		}
	}
	with := *tables
	with.MFT = fabric.NewMFT(t.f, fabric.FirstMLID)
	if _, err := t.tree.AddGroup(with.MFT, fabric.FirstMLID, members); err != nil {
		return nil, err
	}
	return credits.Check(ctx, &with, credits.Options{})
}
