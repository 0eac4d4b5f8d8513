// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"cmp"

	"example.org/ibconsole/mad"
)

// socket is a port of a record that may not be there.
type socket struct {
	name *named
	port int
}

// infer makes records of the nodes that have none, or none that could be read, and
// whose GUID is in the id by which cables lead to them, as ibnetdiscover has it: they
// are as these cables have them. A cable whose near end others name is left to these:
// its own line is the wrong one. O(cables).
func (b *builder) infer() error {
	var to []end
	b.each(func(r *record, c *cable) {
		if c.own == "" && c.remote.record == nil {
			to = append(to, end{r: r, c: c})
		}
	})
	if len(to) == 0 {
		return nil
	}
	claimed := map[socket]bool{}
	b.each(func(_ *record, c *cable) { claimed[socket{c.remote, c.remotePort}] = true })
	for _, e := range to {
		if claimed[e.socket()] {
			continue
		}
		if err := b.inferBy(e); err != nil {
			return err
		}
	}
	return nil
}

// each calls take with each port line.
func (b *builder) each(take func(*record, *cable)) {
	for _, r := range b.p.records {
		for j := range r.cables {
			take(r, &r.cables[j])
		}
	}
}

// inferBy adds what a line says of its far end.
func (b *builder) inferBy(e end) error {
	p, c := b.p, e.c
	lid, desc := p.remoteSays(c)
	r := c.remote.record
	if r == nil {
		if !c.remote.gone {
			b.missing++
		}
		typ, ok := idType(c.remote.id)
		if !ok || b.asIbsim {
			return nil
		}
		if err := b.told(c); err != nil {
			return err
		}
		r = &record{
			at: c.at, name: c.remote, typ: typ, guid: idGUID(c.remote.id), desc: cmp.Or(desc, c.remote.id),
			start: ibsimDefault,
		}
		c.remote.record = r
		p.records = append(p.records, r)
	}
	if c.remotePort > maxNodePorts || r.listed.has(c.remotePort) {
		return nil
	}
	r.listed.add(c.remotePort)
	if more := c.remotePort - r.ports; more > 0 {
		if p.ports += more; p.ports > maxPorts {
			return p.fatal("more than %d ports", maxPorts)
		}
		r.ports = c.remotePort
	}
	if r.addr.lid == 0 {
		r.addr.lid = lid
	}
	r.cables = append(r.cables, cable{
		at: c.at, port: c.remotePort, guid: c.remoteGUID, addr: address{lid: lid}, rate: c.rate, stated: c.stated,
		remote: e.r.name, remotePort: e.c.port,
	})
	return nil
}

// told lists a node without a record, unless its record was listed.
func (b *builder) told(c *cable) error {
	if c.remote.gone {
		return nil
	}
	return b.p.refuse(b.p.errorAt(c.at, "node %s is not in the file; it is taken as the cables that lead to it have it",
		quote(c.remote.id)))
}

// idType returns the type of a node by an id such as "S-0002c90300000001"; false if the id
// is no such.
func idType(id string) (t mad.NodeType, ok bool) {
	if idGUID(id) == 0 {
		return 0, false
	}
	t, ok = map[byte]mad.NodeType{'S': mad.NodeSwitch, 'H': mad.NodeCA, 'R': mad.NodeRouter}[id[0]]
	return t, ok
}
