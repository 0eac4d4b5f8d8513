// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"cmp"

	"example.org/ibconsole/mad"
)

// portKey identifies a port of a record that may be missing.
type portKey struct {
	name *nodeName
	port int
}

// infer adds records for nodes without a readable record, if the id by which cables lead to them contains a GUID, as in
// ibnetdiscover's files. They have the properties that these cables state. A cable is ignored if other lines lead to
// its near end, because its own line is then the wrong one. O(cables).
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

// refuseMissing reports a node without a record, unless its record has been reported.
func (b *builder) refuseMissing(c *cable) error {
	if c.remote.skipped {
		return nil
	}
	return b.p.refuse(b.p.errorAt(c.at, "node %s is not in the file; it is inferred from the cables that lead to it",
		quote(c.remote.id)))
}

// idType returns the node type in an id such as "S-0002c90300000001"; ok is false for other ids.
func idType(id string) (t mad.NodeType, ok bool) {
	if idGUID(id) == 0 {
		return 0, false
	}
	t, ok = map[byte]mad.NodeType{'S': mad.NodeSwitch, 'H': mad.NodeCA, 'R': mad.NodeRouter}[id[0]]
	return t, ok
}
