// SPDX-License-Identifier: Apache-2.0

package qospolicy

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

var typesOf = map[kind][]mad.NodeType{
	"ROUTER": {mad.NodeRouter}, "CA": {mad.NodeCA}, "SWITCH": {mad.NodeSwitch}, "SELF": nil,
	"ALL": {mad.NodeCA, mad.NodeSwitch, mad.NodeRouter},
}

// Limits of values (osm_qos_parser_y.y).
const (
	mostSL      = 15
	leastMTU    = 1 // codes of records of the subnet administration
	mostMTU     = 5
	leastRate   = 2
	mostRate    = 22
	vlsOfTable  = 16
	mostPorts   = 128
	mostPortNum = 0xffff
)

// The service IDs of upper-layer protocols (osm_qos_policy.h).
const (
	sdpService  = 0x10000
	tcpService  = 0x1060000 // RDS and iSER
	rdsPort     = 0x48ca
	iserPort    = 0x0cbc
	defaultPKey = 0x7fff
)

// Read reads a policy as OpenSM does (osm_qos_parser_l.l, osm_qos_parser_y.y, osm_qos_policy_validate). It returns an
// error if reading fails or OpenSM rejects the policy. If OpenSM rejects the policy, the error begins with
// "name:line:".
func Read(r io.Reader, name string) (*Policy, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	p := parser{lexer: lexer{rest: string(b), line: 1}, p: &Policy{Name: name}}
	p.advance()
	for p.now.kind != atEnd && p.err == nil {
		p.section()
	}
	if p.err == nil {
		p.resolve()
	}
	return p.p, p.err
}

// parser is a recursive-descent parser for the grammar of OpenSM. After an error it stops at the next token.
type parser struct {
	lexer lexer
	now   token
	p     *Policy
	err   error
	// simple is the level of the entry "default" in section qos-ulps, nil if there is none. protocols holds the rules
	// of this section.
	simple    *Level
	protocols []rule
}

func (p *parser) advance() { p.now = p.lexer.next() }

// fail records an error with its line number. The parser then ends.
func (p *parser) fail(line int, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d: %s", p.p.Name, line, fabric.Escape(fmt.Sprintf(format, args...)))
	}
	p.now.kind, p.lexer.rest = atEnd, ""
}

// expected records an error because the current token is not the expected one.
func (p *parser) expected(what string) {
	found := string(atEnd)
	if p.now.kind != atEnd {
		found = fmt.Sprintf("\"%.40s\"", p.now.text)
	}
	p.fail(p.now.line, "expected %s, found %s", what, found)
}

// take returns the current token and advances. The token must be of the given kind.
func (p *parser) take(k kind) token {
	t := p.now
	if t.kind != k {
		p.expected(string(k))
		return t
	}
	p.advance()
	return t
}

// each parses entries until the keyword that ends the section. It returns the line number of this keyword.
func (p *parser) each(section kind, entry map[kind]func(line int)) int {
	for p.err == nil && p.now.kind != end(section) {
		parse, ok := entry[p.now.kind]
		if !ok {
			p.expected(fmt.Sprintf("an entry of %s or %s", section, end(section)))
			return 0
		}
		line := p.now.line
		p.advance()
		parse(line)
	}
	return p.take(end(section)).line
}

func (p *parser) section() {
	switch k := p.now.kind; k {
	case "qos-ulps":
		p.advance()
		for more := true; more && p.err == nil; more = p.now.kind != end(k) {
			p.protocol()
		}
		p.take(end(k))
	case "port-groups":
		p.advance()
		if p.now.kind != "port-group" {
			p.expected("port-group")
		}
		p.each(k, map[kind]func(int){"port-group": func(int) { p.portGroup() }})
	case "qos-setup":
		p.advance()
		p.each(k, map[kind]func(int){
			"vlarb-tables": func(int) {
				p.each("vlarb-tables", map[kind]func(int){"vlarb-scope": func(int) { p.vlArbScope() }})
			},
			"sl2vl-tables": func(int) {
				p.each("sl2vl-tables", map[kind]func(int){"sl2vl-scope": func(int) { p.sl2vlScope() }})
			},
		})
	case "qos-levels":
		p.advance()
		p.each(k, map[kind]func(int){"qos-level": func(int) { p.level() }})
	case "qos-match-rules":
		p.advance()
		p.each(k, map[kind]func(int){"qos-match-rule": p.matchRule})
	default:
		p.expected("qos-ulps, port-groups, qos-setup, qos-levels or qos-match-rules")
	}
}

// str parses a string. It removes the blanks at both ends.
func (p *parser) str() string {
	var b strings.Builder
	b.WriteString(p.take(text).text)
	for p.now.kind == text {
		b.WriteString(p.now.text)
		p.advance()
	}
	return strings.Trim(b.String(), " \t\n\v\f\r")
}

// list parses items between commas.
func (p *parser) list(item func()) {
	item()
	for p.err == nil && p.now.kind == comma {
		p.advance()
		item()
	}
}

func (p *parser) strings() (all []string) {
	p.list(func() { all = append(all, p.str()) })
	return all
}

func (p *parser) number() uint64 {
	t := p.take(number)
	if p.err != nil {
		return 0
	}
	return value(t.text)
}

// limited parses a number within limits.
func (p *parser) limited(what string, low, high uint64) uint64 {
	line := p.now.line
	n := p.number()
	if n < low || n > high {
		p.fail(line, "%s %d, expected %d to %d", what, n, low, high)
	}
	return n
}

// ranges parses numbers and ranges of numbers, for example "1,5-9".
func (p *parser) ranges() (all ranges) {
	p.list(func() {
		r := span{}
		r.low = p.number()
		if r.high = r.low; p.now.kind == dash {
			p.advance()
			r.high = p.number()
		}
		all = append(all, r.sorted())
	})
	return all
}

// pKeys parses ranges of P_Keys. Only the lower 15 bits of a P_Key count.
func (p *parser) pKeys() ranges {
	all := p.ranges()
	for i, r := range all {
		all[i] = span{r.low & defaultPKey, r.high & defaultPKey}.sorted()
	}
	return all
}

// once returns a function that parses an entry. It records an error if the entry occurs twice in a section.
func (p *parser) once(what string, parse func()) func(line int) {
	met := false
	return func(line int) {
		if met {
			p.fail(line, "%s is given twice", what)
			return
		}
		met = true
		parse()
	}
}

func (p *parser) portGroup() {
	g := &group{}
	named := false
	end := p.each("port-group", map[kind]func(int){
		"name:": p.once("name", func() { g.name, named = p.str(), true }), "use:": p.once("use", func() { p.str() }),
		"port-guid:": func(int) { g.guids = append(g.guids, p.ranges()...) },
		"port-name:": func(line int) {
			for _, s := range p.strings() {
				p.portName(g, s, line)
			}
		},
		"pkey:":      func(int) { g.pKeys = append(g.pKeys, p.pKeys()...) },
		"partition:": func(int) { g.partitions = append(g.partitions, p.strings()...) },
		"node-type:": func(int) { p.list(func() { p.nodeType(g) }) },
	})
	if !named {
		p.fail(end, "the port-group has no name, expected name: NAME")
	}
	p.p.groups = append(p.p.groups, g)
}

func (p *parser) nodeType(g *group) {
	types, ok := typesOf[p.now.kind]
	if !ok {
		p.expected("CA, SWITCH, ROUTER, SELF or ALL")
		return
	}
	g.types, g.self = append(g.types, types...), g.self || p.now.kind == "SELF"
	p.advance()
}

// portName adds a port to a group. The text is the description of the node and the number of the port, "NODE/P1".
func (p *parser) portName(g *group, s string, line int) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 || len(s) < i+3 || s[i+1]|0x20 != 'p' {
		p.fail(line, "\"%s\" is not the name of a port, expected NODE/P1", s)
		return
	}
	n := digits(s[i+2:])
	num := uint64(0)
	if n > 0 {
		num = uint64(uint32(value(s[i+2 : i+2+n])))
	}
	if num == 0 {
		p.fail(line, "\"%s\" has no port number, expected NODE/P1", s)
	}
	g.names = append(g.names, portName{node: s[:i], port: num, line: line})
}

func (p *parser) level() {
	l := &Level{}
	named, set := false, false
	end := p.each("qos-level", map[kind]func(int){
		"name:": p.once("name", func() { l.Name, named = p.str(), true }), "use:": p.once("use", func() { p.str() }),
		"sl:":          p.once("sl", func() { l.Line, l.SL, set = p.now.line, uint8(p.number()), true }),
		"mtu-limit:":   p.once("mtu-limit", func() { p.limited("mtu-limit", leastMTU, mostMTU) }),
		"rate-limit:":  p.once("rate-limit", func() { p.limited("rate-limit", leastRate, mostRate) }),
		"packet-life:": p.once("packet-life", func() { p.number() }),
		"path-bits:":   func(int) { p.ranges() },
		"pkey:":        func(int) { l.pKeys = append(l.pKeys, p.pKeys()...) },
	})
	switch {
	case !set:
		p.fail(end, "the qos-level has no SL, expected sl: 0 to 15")
	case !named:
		p.fail(end, "the qos-level has no name, expected name: NAME")
	}
	p.p.levels = append(p.p.levels, l)
}

func (p *parser) matchRule(line int) {
	r := rule{line: line}
	named := false
	end := p.each("qos-match-rule", map[kind]func(int){
		"use:":            p.once("use", func() { p.str() }),
		"qos-level-name:": p.once("qos-level-name", func() { r.levelName, named = p.str(), true }),
		"source:":         func(int) { r.sourceNames = append(r.sourceNames, p.strings()...) },
		"destination:":    func(int) { r.destinationNames = append(r.destinationNames, p.strings()...) },
		"qos-class:":      func(int) { r.classes = append(r.classes, p.ranges()...) },
		"service-id:":     func(int) { r.services = append(r.services, p.ranges()...) },
		"pkey:":           func(int) { r.pKeys = append(r.pKeys, p.pKeys()...) },
	})
	if !named {
		p.fail(end, "the qos-match-rule has no level, expected qos-level-name: NAME")
	}
	p.p.rules = append(p.p.rules, r)
}

// protocol parses a line of section qos-ulps, for example "sdp, port-num 1-9 : 2".
func (p *parser) protocol() {
	k, line := p.now.kind, p.now.line
	if k != atEnd {
		p.advance()
	}
	if k == "default:" {
		p.simple = &Level{Name: "default of qos-ulps", SL: uint8(p.limited("SL", 0, mostSL)), Line: line}
		return
	}
	r := rule{line: line}
	if !p.criteria(&r, k) {
		p.expected("a protocol of qos-ulps")
		return
	}
	if !strings.HasSuffix(string(k), ":") {
		p.take(colon)
	}
	sl := uint8(p.limited("SL", 0, mostSL))
	r.level = &Level{Name: fmt.Sprintf("of line %d", line), SL: sl, Line: line}
	p.protocols = append(p.protocols, r)
}

// criteria parses the criteria of a rule that follow the name of a protocol. ok is false if the keyword k does not
// begin criteria.
func (p *parser) criteria(r *rule, k kind) (ok bool) {
	switch k {
	case "any, service-id":
		r.services = p.ranges()
	case "any, pkey":
		r.pKeys = p.pKeys()
	case "any, target-port-guid":
		r.destinations = p.guids("_ULP_Targets_")
	case "srp, target-port-guid":
		r.destinations = p.guids("_SRP_Targets_")
	case "any, source-port-guid":
		r.sources = p.guids("_ULP_Sources_")
	case "any, source-target-port-guid":
		r.sources = p.guids("_ULP_Sources_Targets_")
		r.destinations = r.sources
	case "sdp:":
		r.services = ranges{{sdpService, sdpService + mostPortNum}}
	case "sdp, port-num":
		r.services = p.portNumbers(sdpService)
	case "rds:":
		r.services = ranges{{tcpService + rdsPort, tcpService + rdsPort}}
	case "iser:":
		r.services = ranges{{tcpService + iserPort, tcpService + iserPort}}
	case "rds, port-num", "iser, port-num":
		r.services = p.portNumbers(tcpService)
	case "ipoib:":
		r.pKeys, r.ipoib = ranges{{defaultPKey, defaultPKey}}, true
	case "ipoib, pkey":
		r.pKeys, r.ipoib = p.pKeys(), true
	default:
		return false
	}
	return true
}

// guids parses ranges of port GUIDs, and adds a port group that contains these ports.
func (p *parser) guids(name string) []*group {
	g := &group{name: name, guids: p.ranges()}
	p.p.groups = append(p.p.groups, g)
	return []*group{g}
}

// portNumbers parses ranges of port numbers. It returns the service IDs, which are the argument base plus a port
// number.
func (p *parser) portNumbers(base uint64) ranges {
	line := p.now.line
	all := p.ranges()
	for i := range all {
		if all[i].high > mostPortNum {
			p.fail(line, "port number %d, expected 0 to %d", all[i].high, mostPortNum)
		}
		all[i] = span{all[i].low + base, all[i].high + base}
	}
	return all
}

// vlArbScope parses a VL arbitration table and checks it. OpenSM does not use the table.
func (p *parser) vlArbScope() {
	any := false
	pairs := func(int) {
		p.list(func() {
			p.number()
			p.take(colon)
			p.number()
		})
	}
	names := func(int) { any = len(p.strings()) > 0 }
	end := p.each("vlarb-scope", map[kind]func(int){
		"group:": names, "across:": names, "vlarb-high:": pairs, "vlarb-low:": pairs,
		"vl-high-limit:": func(int) { p.number() },
	})
	if !any {
		p.fail(end, "the vlarb-scope has no port groups, expected group: NAME or across: NAME")
	}
}

// sl2vlScope parses an SL2VL table and checks it. OpenSM does not use the table.
func (p *parser) sl2vlScope() {
	any, table := false, false
	names := func(int) { any = len(p.strings()) > 0 }
	ports := func(line int) {
		if p.now.kind == star {
			p.advance()
			return
		}
		for _, r := range p.ranges() {
			if r.high >= mostPorts {
				p.fail(line, "port %d, expected 0 to %d", r.high, mostPorts-1)
			}
		}
	}
	end := p.each("sl2vl-scope", map[kind]func(int){
		"group:": names, "across:": names, "across-to:": names, "across-from:": names, "to:": ports, "from:": ports,
		"sl2vl-table:": p.once("sl2vl-table", func() {
			n, line := 0, p.now.line
			p.list(func() {
				p.limited("VL", 0, vlsOfTable-1)
				n++
			})
			if table = true; n != vlsOfTable {
				p.fail(line, "%d VLs in the sl2vl-table, expected %d", n, vlsOfTable)
			}
		}),
	})
	switch {
	case !table:
		p.fail(end, "the sl2vl-scope has no table, expected sl2vl-table: with %d VLs", vlsOfTable)
	case !any:
		p.fail(end, "the sl2vl-scope has no port groups, expected group:, across:, across-to: or across-from:")
	}
}

// resolve finds the default level, and the levels and groups that rules name. Case does not matter in names.
func (p *parser) resolve() {
	last := p.lexer.line
	if p.p.byDefault = p.p.levelNamed("default"); p.p.byDefault == nil {
		if p.p.byDefault = p.simple; p.simple == nil {
			p.fail(last, "no default level, expected a qos-level with name: default, or default: SL in qos-ulps")
			return
		}
	}
	p.p.rules = append(p.p.rules, p.protocols...)
	for i := range p.p.rules {
		r := &p.p.rules[i]
		if r.level == nil {
			r.level = p.p.levelNamed(r.levelName)
		}
		if r.level == nil {
			p.fail(r.line, "no qos-level is called \"%s\"", r.levelName)
		}
		r.sources = append(r.sources, p.named(r.sourceNames, r.line)...)
		r.destinations = append(r.destinations, p.named(r.destinationNames, r.line)...)
	}
}

func (p *parser) named(names []string, line int) (all []*group) {
	for _, n := range names {
		g := p.p.groupNamed(n)
		if g == nil {
			p.fail(line, "no port-group is called \"%s\"", n)
		}
		all = append(all, g)
	}
	return all
}
