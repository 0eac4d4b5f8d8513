// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
)

// prove refuses tables that, together with a multicast group of all hosts, have a credit loop.
func (t *Torus) prove(ctx context.Context, tables *fabric.Tables) (string, error) {
	r, err := t.withAllHosts(ctx, tables)
	switch {
	case err != nil:
		return "", err
	case r.Ring != nil:
		return "", routing.Refuse(Name, "paths around the missing switches at %s have a credit loop of %d links",
			few(t.missing()), len(r.Ring))
	}
	return fmt.Sprintf("unicast and multicast are proved free of credit loops, %d channels with %d dependencies",
		r.Channels, r.Dependencies), nil
}

// withAllHosts looks for a credit loop of unicast paths together with a multicast group of all hosts.
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
