// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"math"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

const (
	// ibsim's limits, in bytes.
	maxID   = 64
	maxDesc = 63

	maxNodePorts = 254
	maxLMC       = 7
)

// header parses the first line of a record, without its keyword:
//
//	36 "S-0002c90300000001"  # "sw1" enhanced port 0 lid 2 lmc 0
func (p *parser) header(rest string, t mad.NodeType) error {
	r, err := p.record(rest, t)
	if err != nil {
		if r.name == nil {
			r.name = p.nodeName("")
		}
		r.name.skipped = true
		p.advanceGUIDs(r)
		p.current = skipped
		return err
	}
	p.advanceGUIDs(r)
	r.name.record = r
	p.current, p.remaining = len(p.records), r.ports
	p.records = append(p.records, r)
	return nil
}

// record returns a record with the properties in the record's first line. If there is an error, the record has the
// properties that were read.
func (p *parser) record(rest string, t mad.NodeType) (*record, error) {
	r := &record{
		at: p.at, typ: t, start: p.rate,
		guid: p.next[t], guided: p.guided, bracketed: p.bracketed, system: p.system, vendor: p.vendor, device: p.device,
	}
	id, after, ok := quoted(rest)
	if !ok {
		return r, p.errorf("no id in quotes, expected PORTS \"ID\"")
	}
	before, _, _ := strings.Cut(rest, `"`)
	ports, tail, err := number(before)
	if err != nil || strings.TrimSpace(tail) != "" || ports < 1 || ports > maxNodePorts {
		r.name = p.nodeName(id)
		return r, p.errorf("bad number of ports %s, expected a number from 1 to %d before the id",
			quote(strings.TrimSpace(before)), maxNodePorts)
	}
	r.ports = int(ports)
	if id == "" || strings.ContainsAny(id, "#@") {
		return r, p.errorf("bad id %s, expected an id without # and @", quote(id))
	}
	r.name = p.nodeName(id)
	if old := r.name.record; old != nil {
		return r, p.errorf("node %s is already at %s", quote(r.name.id), p.where(old.at))
	}
	if r.guid == 0 && (p.asIbsim() || idGUID(r.name.id) == 0) {
		return r, p.errorf("node %s has GUID 0, expected a line with its GUID", quote(r.name.id))
	}
	if p.ports += r.ports + 1; p.ports > maxPorts {
		return r, p.fatal("more than %d ports", maxPorts)
	}
	return r, p.refuse(p.comment(r, after))
}

// advanceGUIDs sets the next GUID after a record. It also resets the properties that apply only to this record. The
// device ID applies to later records, too.
func (p *parser) advanceGUIDs(r *record) {
	if r.typ == mad.NodeSwitch {
		p.next[r.typ]++
	} else {
		p.next[r.typ] += uint64(r.ports) + 1
	}
	p.vendor, p.system, p.bracketed, p.guided = 0, 0, 0, false
}

// comment parses the text after the id in the first line of a record.
func (p *parser) comment(r *record, after string) error {
	desc, tail := p.description(after)
	r.desc = desc
	if desc == "" {
		r.desc = r.name.id
	}
	if r.typ != mad.NodeSwitch {
		return nil
	}
	r.enhanced = strings.Contains(tail, "enhanced port 0")
	var err error
	r.addr, err = p.address(tail)
	return err
}

// description splits the comment of a record into the node description and the rest. The description is in quotes, or
// ends before one of certain words.
func (p *parser) description(s string) (desc, tail string) {
	_, comment, ok := strings.Cut(s, "#")
	if !ok {
		return "", s
	}
	comment = strings.TrimLeft(comment, " \t\r\v\f")
	if inQuotes, ok := strings.CutPrefix(comment, `"`); ok {
		end := strings.LastIndexByte(inQuotes, '"')
		if p.asIbsim() {
			end = strings.IndexByte(inQuotes, '"')
		}
		if end < 0 {
			return inQuotes, ""
		}
		return inQuotes[:end], inQuotes[end+1:]
	}
	for _, word := range []string{" enhanced port ", " base port ", " lid ", " lmc "} {
		if i := strings.Index(comment, word); i >= 0 {
			return comment[:i], comment[i+1:]
		}
	}
	return comment, ""
}

// address parses a text such as "lid 2 lmc 0" in a comment, if the comment has it. If there is an error, the result has
// the values that were read.
func (p *parser) address(s string) (address, error) {
	lid, err := p.lid(s)
	if err != nil {
		return address{}, err
	}
	lmc, err := p.numberAfter(s, "lmc ", maxLMC, "LMC")
	if err != nil {
		return address{lid: uint16(lid)}, err
	}
	if lid&(1<<lmc-1) != 0 {
		return address{}, p.errorf("LID %d with LMC %d, expected a multiple of %d", lid, lmc, 1<<lmc)
	}
	return address{uint16(lid), uint8(lmc)}, nil
}

// lid returns the LID in a text such as "lid 2", 0 if there is none.
func (p *parser) lid(s string) (uint64, error) {
	lid, err := p.numberAfter(s, "lid ", math.MaxUint16, "LID")
	if lid = fabric.AssignedLID(lid); err == nil && lid > fabric.MaxUnicastLID {
		return 0, p.errorf("LID %d, expected at most %d", lid, fabric.MaxUnicastLID)
	}
	return lid, err
}

// numberAfter returns the number that follows a word in s, 0 if s does not contain the word.
func (p *parser) numberAfter(s, word string, most uint64, what string) (uint64, error) {
	_, s, ok := strings.Cut(s, word)
	s = strings.TrimLeft(s, " \t")
	if !ok || s == "" || s[0] < '0' || s[0] > '9' {
		return 0, nil
	}
	v, _, err := number(s)
	if err != nil {
		return 0, p.errorf("%s: %w", what, err)
	}
	if v > most {
		return 0, p.errorf("%s %d, expected at most %d", what, v, most)
	}
	return v, nil
}

// nodeName returns the entry for a node id. It adds the name of the module to the id and shortens the id, as ibsim
// does.
func (p *parser) nodeName(id string) *nodeName {
	if p.module != "" && !strings.Contains(id, "#") {
		id = p.module + "#" + id
	}
	if len(id) > maxID && p.asIbsim() {
		id = id[:maxID]
	}
	if n, ok := p.names[id]; ok {
		return n
	}
	n := &nodeName{id: strings.Clone(id)}
	p.names[n.id] = n
	return n
}

func (p *parser) where(at place) string {
	line := "line " + strconv.Itoa(int(at.line))
	if at.file != p.at.file {
		line += " of " + fabric.Escape(p.files[at.file])
	}
	return line
}
