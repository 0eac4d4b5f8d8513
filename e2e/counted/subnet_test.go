// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The node types in a dumped topology.
const (
	kindSwitch = 'S'
	kindRouter = 'R'
)

// subnet is a subnet as written by `dump topology`.
type subnet struct {
	nodes []*node
	// byGUID holds nodes by GUID, endByGUID end ports by GUID.
	byGUID    map[uint64]*node
	endByGUID map[uint64]*port
	// owner maps LIDs to end ports.
	owner map[int]*port
	// seenFrom is the GUID of the port from which the subnet was read.
	seenFrom uint64
}

// node is a node with the ports that have a link, and port 0 of a switch.
type node struct {
	kind   byte
	guid   uint64
	system uint64
	desc   string
	name   string // desc, with the GUID if several nodes have it
	count  int    // ports
	ports  map[int]*port
}

// port is a port. An end port is port 0 of a switch, or a linked port of another node: guid, lid and lmc are of those.
type port struct {
	node     *node
	num      int
	guid     uint64
	lid, lmc int
	peer     *port
	link     string // "4xNDR"
}

func (n *node) isSwitch() bool { return n.kind == kindSwitch }

// isAggregation reports whether it is an aggregation node, by the name that simulated subnets use.
func (n *node) isAggregation() bool { return strings.Contains(n.name, "Aggregation Node") }

// String returns the name of the port in answers.
func (p *port) String() string { return fmt.Sprintf("%s/%d", p.node.name, p.num) }

// lids returns all LIDs of an end port.
func (p *port) lids() []int {
	var all []int
	if p.lid != 0 {
		for i := range 1 << p.lmc {
			all = append(all, p.lid+i)
		}
	}
	return all
}

var (
	nodeLine = regexp.MustCompile(
		`^(Switch|Ca|Rt)\t(\d+) "[SHR]-([0-9a-f]{16})"\t+# "(.*)"(?: (?:base|enhanced) port 0 lid (\d+) lmc (\d+))?$`)
	portLine = regexp.MustCompile(
		`^\[(\d+)\](?:\(([0-9a-f]+)\))? *\t"[SHR]-([0-9a-f]{16})"\[(\d+)\](?:\([0-9a-f]+\))? *` +
			`\t+# (?:lid (\d+) lmc (\d+) )?".*" lid \d+ (\S+)$`)
	systemLine = regexp.MustCompile(`^sysimgguid=0x([0-9a-f]+)$`)
	switchLine = regexp.MustCompile(`^switchguid=0x[0-9a-f]+\(([0-9a-f]+)\)$`)
	startLine  = regexp.MustCompile(`^# Initiated from node [0-9a-f]+ port ([0-9a-f]+)$`)
)

// readSubnet reads the output of `dump topology`.
func readSubnet(t testing.TB, text string) *subnet {
	t.Helper()
	s := &subnet{byGUID: map[uint64]*node{}, endByGUID: map[uint64]*port{}, owner: map[int]*port{}}
	type end struct {
		guid uint64
		num  int
	}
	peers := map[*port]end{}
	var n *node
	system, portGUID := uint64(0), uint64(0)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := startLine.FindStringSubmatch(line); m != nil {
			s.seenFrom = hex(m[1])
		} else if m := systemLine.FindStringSubmatch(line); m != nil {
			system = hex(m[1])
		} else if m := switchLine.FindStringSubmatch(line); m != nil {
			portGUID = hex(m[1])
		} else if m := nodeLine.FindStringSubmatch(line); m != nil {
			n = &node{kind: m[1][0], guid: hex(m[3]), system: system, desc: m[4], name: m[4], count: decimal(m[2]),
				ports: map[int]*port{}}
			s.nodes, s.byGUID[n.guid] = append(s.nodes, n), n
			if n.isSwitch() {
				n.ports[0] = &port{node: n, guid: portGUID, lid: decimal(m[5]), lmc: decimal(m[6])}
			}
		} else if m := portLine.FindStringSubmatch(line); m != nil {
			p := &port{node: n, num: decimal(m[1]), lid: decimal(m[5]), lmc: decimal(m[6]), link: m[7]}
			if !n.isSwitch() {
				p.guid = hex(m[2])
			}
			n.ports[p.num], peers[p] = p, end{hex(m[3]), decimal(m[4])}
		} else if strings.HasPrefix(line, "[") || strings.Contains(line, `"H-`) {
			t.Fatalf("cannot parse a line of the topology: %q", line)
		}
	}
	for p, at := range peers {
		if p.peer = s.byGUID[at.guid].ports[at.num]; p.peer == nil {
			t.Fatalf("the topology lacks the other end of the link of %v", p)
		}
	}
	s.tellApart()
	for p := range s.ends(true) {
		s.endByGUID[p.guid] = p
		for _, lid := range p.lids() {
			s.owner[lid] = p
		}
	}
	return s
}

// tellApart adds the GUID to names that several nodes have, as answers do.
func (s *subnet) tellApart() {
	nodes := map[string]int{}
	for _, n := range s.nodes {
		nodes[n.name]++
	}
	for _, n := range s.nodes {
		if nodes[n.name] > 1 {
			n.name = fmt.Sprintf("%s (0x%016x)", n.desc, n.guid)
		}
	}
}

// ends yields the end ports, optionally with those of switches.
func (s *subnet) ends(switches bool) func(yield func(*port) bool) {
	return func(yield func(*port) bool) {
		for _, n := range s.nodes {
			for num := range n.count + 1 {
				p := n.ports[num]
				if p == nil || n.isSwitch() != (num == 0) || n.isSwitch() && !switches {
					continue
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}

// links yields each link once.
func (s *subnet) links() func(yield func(a, b *port) bool) {
	return func(yield func(a, b *port) bool) {
		for _, n := range s.nodes {
			for num := range n.count + 1 {
				p := n.ports[num]
				if p == nil || p.peer == nil || p.node.guid > p.peer.node.guid || p.node == p.peer.node &&
					p.num > p.peer.num {
					continue
				}
				if !yield(p, p.peer) {
					return
				}
			}
		}
	}
}

// at returns a port by the GUID of its node and its number, nil if it has no link.
func (s *subnet) at(guid uint64, num int) *port {
	if n := s.byGUID[guid]; n != nil {
		return n.ports[num]
	}
	return nil
}

func hex(s string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// decimal parses a number, with commas or without. "" is 0.
func decimal(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		panic(err)
	}
	return n
}
