// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"cmp"

	"example.org/ibconsole/mad"
)

// portKey identifies a port of a node. The node may have no record.
type portKey struct {
	name *nodeName
	port int
}

// infer adds records for nodes that have no readable record, but to which cables lead. The id of such a node must
// contain a GUID, as in ibnetdiscover's files. The new record gets the properties that the lines of the cables state.
//
// A line is ignored if another line states that its port leads elsewhere, because then the line itself is wrong.
// O(cables).
func (b *builder) infer() error {
	var to []end
	b.each(func(r *record, c *cable) {
		if c.ownAlias == "" && c.remote.record == nil {
			to = append(to, end{r: r, c: c})
		}
	})
	if len(to) == 0 {
		return nil
	}
	claimed := map[portKey]bool{}
	b.each(func(_ *record, c *cable) { claimed[portKey{c.remote, c.remotePort}] = true })
	for _, e := range to {
		if claimed[e.key()] {
			continue
		}
		if err := b.inferBy(e); err != nil {
			return err
		}
	}
	return nil
}

// each calls visit for each port line.
func (b *builder) each(visit func(*record, *cable)) {
	for _, r := range b.p.records {
		for j := range r.cables {
			visit(r, &r.cables[j])
		}
	}
}

// inferBy adds the far end of a port line.
func (b *builder) inferBy(e end) error {
	p, c := b.p, e.c
	lid, desc := p.remoteComment(c)
	r := c.remote.record
	if r == nil {
		if !c.remote.skipped {
			b.missing++
		}
		typ, ok := idType(c.remote.id)
		if !ok || b.asIbsim {
			return nil
		}
		if err := b.refuseMissing(c); err != nil {
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

// refuseMissing reports that a node has no record. It does nothing if the file has a record of the node that was
// reported as unreadable.
func (b *builder) refuseMissing(c *cable) error {
	if c.remote.skipped {
		return nil
	}
	return b.p.refuse(b.p.errorAt(c.at, "node %s is not in the file; it is inferred from the cables that lead to it",
		quote(c.remote.id)))
}

// idType returns the node type that an id such as "S-0002c90300000001" states. ok is false for ids of other forms.
func idType(id string) (t mad.NodeType, ok bool) {
	if idGUID(id) == 0 {
		return 0, false
	}
	t, ok = map[byte]mad.NodeType{'S': mad.NodeSwitch, 'H': mad.NodeCA, 'R': mad.NodeRouter}[id[0]]
	return t, ok
}
