// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"strconv"
	"strings"

	"example.org/ibconsole/mad"
)

// maxAlias is the maximum length of an alias in ibsim, including the name of the module.
const maxAlias = 39

// portLine parses a port line of the current record:
//
//	[1](2c90300000002) "S-0002c90300000001"[3]  # lid 1 lmc 0 "sw1" lid 2 4xQDR
func (p *parser) portLine(l string) error {
	r := p.records[p.current]
	l, isAlias := strings.CutPrefix(l, "@")
	p.cable = cable{at: p.at, rate: r.start}
	c := &p.cable
	between, id, after, err := p.splitPort(l, r, c)
	if c.port > 0 {
		r.listed.add(c.port)
	}
	if err != nil {
		return err
	}
	if r.taken.has(c.port) {
		return p.errorf("port %d of %s is listed twice", c.port, quote(r.name.id))
	}
	if err := p.refuse(p.ownBrackets(r, c, between)); err != nil {
		return err
	}
	if isAlias {
		err = p.alias(c, id)
	} else {
		after, err = p.remote(c, id, after)
	}
	if err != nil {
		return err
	}
	if err := p.rateAndAddress(r, c, after); err != nil {
		return err
	}
	if r.cables == nil {
		r.cables = make([]cable, 0, r.ports)
	}
	r.cables = append(r.cables, *c)
	r.taken.add(c.port)
	return nil
}

// splitPort parses the port number and splits the line into the text before the remote node's id, the id, and the text
// after the id.
func (p *parser) splitPort(l string, r *record, c *cable) (between, id, after string, err error) {
	num, rest, ok := strings.Cut(l[1:], "]")
	port, err := strconv.ParseUint(num, 10, 32)
	if !ok || err != nil {
		return "", "", "", p.errorf("bad port line %s, expected [PORT] \"ID\"[PORT]", quote(l))
	}
	if port < 1 || port > uint64(r.ports) {
		return "", "", "", p.errorf("port %d, but %s has ports 1 to %d", port, quote(r.name.id), r.ports)
	}
	c.port = int(port)
	id, after, ok = quoted(rest)
	if !ok {
		return "", "", "", p.errorf("port line %s without an id in quotes, expected [PORT] \"ID\"[PORT]", quote(l))
	}
	between, _, _ = strings.Cut(rest, `"`)
	return between, id, after, nil
}

// ownBrackets parses the brackets after the port number. They contain the port's GUID or, for a switch in ibdiagnet's
// form, the port number again.
func (p *parser) ownBrackets(r *record, c *cable, s string) error {
	_, s, ok := strings.Cut(s, "(")
	if !ok {
		return nil
	}
	if r.typ == mad.NodeSwitch {
		if p.asIbsim() {
			return p.fatal("port line in ibdiagnet's form, [%d](%d), which ibsim does not accept", c.port, c.port)
		}
		return nil
	}
	var err error
	if c.guid, err = p.hexGUID(s); err == nil && c.guid == 0 {
		err = p.errorf("port %d of %s has GUID 0; it gets the GUID of its node plus the port number", c.port,
			quote(r.name.id))
	}
	return err
}

// hexGUID parses a GUID and the bracket after it. ibnetdiscover prints GUIDs without 0x.
func (p *parser) hexGUID(s string) (uint64, error) {
	hex, _, ok := strings.Cut(s, ")")
	guid, err := strconv.ParseUint(strings.TrimPrefix(hex, "0x"), 16, 64)
	if err != nil || !ok {
		return 0, p.errorf("bad port GUID %s, expected (HEX)", quote(hex))
	}
	return guid, nil
}

// alias parses a line that gives an alias to the port.
func (p *parser) alias(c *cable, id string) error {
	if id == "" || strings.ContainsAny(id, "#@") {
		return p.errorf("bad alias %s, expected an alias without # and @", quote(id))
	}
	c.ownAlias = p.module + "@" + id
	if len(c.ownAlias) > maxAlias {
		c.ownAlias = c.ownAlias[:maxAlias]
	}
	if old, ok := p.aliases[c.ownAlias]; ok {
		return p.errorf("alias %s is already that of port %d of %s", quote(c.ownAlias), old.port,
			quote(old.record.name.id))
	}
	p.aliases[c.ownAlias] = aliasTarget{p.records[p.current], c.port}
	return nil
}

// remote parses the port to which the cable leads. It returns the rest of the line.
func (p *parser) remote(c *cable, id, after string) (string, error) {
	if strings.Contains(id, "@") {
		return after, p.remoteByAlias(c, id)
	}
	c.remote, c.remotePort = p.nodeName(id), 1
	rest := strings.TrimLeft(after, " \t")
	if !strings.HasPrefix(rest, "[") {
		return after, nil
	}
	num, rest, ok := strings.Cut(rest[1:], "]")
	port, err := strconv.ParseUint(num, 10, 32)
	if !ok || err != nil || port < 1 || port > maxNodePorts {
		return "", p.errorf("bad remote port %s, expected [PORT] after the remote id", quote(num))
	}
	c.remotePort = int(port)
	beforeComment, _, _ := strings.Cut(rest, "#")
	if _, guid, ok := strings.Cut(beforeComment, "("); ok {
		c.remoteGUID, err = p.hexGUID(guid)
		return rest, p.refuse(err)
	}
	return rest, nil
}

// remoteByAlias finds the port with the alias "@ALIAS" or "MODULE@ALIAS". An earlier line must define the alias.
func (p *parser) remoteByAlias(c *cable, id string) error {
	c.remoteAlias = id
	if strings.HasPrefix(id, "@") {
		id = p.module + id
	}
	target, ok := p.aliases[id]
	if !ok {
		return p.errorf("alias %s is unknown, expected a line @[PORT] \"ALIAS\" before this one", quote(id))
	}
	c.remoteAlias = id
	c.remote, c.remotePort = target.record.name, target.port
	return nil
}

// rateAndAddress parses the options and the comment of a port line.
func (p *parser) rateAndAddress(r *record, c *cable, s string) error {
	if err := p.refuse(p.portOptions(c, s)); err != nil {
		return err
	}
	tail := s[strings.LastIndexByte(s, '"')+1:]
	c.stated = p.statedRate(tail)
	_, afterLID, toPeer := strings.Cut(tail, "lid")
	if p.asIbsim() {
		if !toPeer {
			return nil
		}
		// Ibsim accepts options on ports of a router, but does not read rates in their comments.
		if lanes, speed, ok := rateWords(afterLID); ok && r.typ != mad.NodeRouter {
			c.rate.setWidth(lanes)
			c.rate.setSpeed(speed)
		}
	} else {
		s, c.comment, _ = strings.Cut(s, `"`) // after the quote the LID is the peer's
	}
	if r.typ == mad.NodeSwitch {
		return nil
	}
	var err error
	c.addr, err = p.address(s)
	return p.refuse(err)
}

// portOptions parses options such as w=12. Like ibsim, it also finds options within a node description. It ignores
// invalid options there.
func (p *parser) portOptions(c *cable, s string) error {
	for i := 1; i < len(s); i++ {
		if s[i] != '=' {
			continue
		}
		letter := i - 1
		for letter >= 0 && (s[letter]|0x20 < 'a' || s[letter]|0x20 > 'z') {
			letter--
		}
		if letter < 0 || !strings.ContainsRune("wse", rune(s[letter])) {
			continue
		}
		v, _, err := number(s[i+1:])
		if err == nil {
			err = c.rate.set(s[letter], v)
		}
		if err != nil && strings.Count(s[:i], `"`)%2 == 0 {
			return p.errorf("bad port option: %w", err)
		}
	}
	return nil
}

// remoteComment returns the LID of the remote port and the description of the remote node from the comment. They are 0
// and "" if the comment does not contain them.
func (p *parser) remoteComment(c *cable) (lid uint16, desc string) {
	end := max(strings.LastIndexByte(c.comment, '"'), 0)
	if v, err := p.lid(c.comment[end:]); err == nil {
		lid = uint16(v)
	}
	return lid, c.comment[:end]
}

// rateWords parses "LID 4xQDR" like ibsim.
func rateWords(s string) (lanes int, speed string, ok bool) {
	_, s, ok = digits(s)
	if !ok {
		return 0, "", false
	}
	lanes, s, ok = digits(s)
	if !ok || !strings.HasPrefix(s, "x") {
		return 0, "", false
	}
	fields := strings.Fields(s[1:])
	if len(fields) == 0 {
		return 0, "", false
	}
	return lanes, fields[0][:min(len(fields[0]), 9)], true
}

func digits(s string) (int, string, bool) {
	s = strings.TrimLeft(s, " \t")
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	v, err := strconv.Atoi(s[:i])
	return v, s[i:], err == nil
}
