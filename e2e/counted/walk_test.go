// SPDX-License-Identifier: Apache-2.0

package counted

// The verdicts on paths, as in answers.
const (
	delivered    = "delivered"
	deadEnd      = "dead end"
	loop         = "loop"
	misdelivered = "misdelivered"
	unknown      = "unknown"
	tooLong      = "too long"
)

// mostLinks is the maximum number of links of a packet.
const mostLinks = 63

// path is the path of packets from an end port to a LID.
type path struct {
	src *port
	lid int
	// hops lists the nodes on the path, the source first. The last hop of a loop is the switch to which it returns.
	hops []hop
	ends string
}

// hop is a node on a path with the ports by which packets enter and leave, nil where they do not.
type hop struct {
	node    *node
	in, out *port
}

func (p *path) arrives() bool { return p.ends == delivered || p.ends == tooLong }

// links returns the number of links of the path.
func (p *path) links() int { return len(p.hops) - 1 }

// switches returns the switches on the path, in order.
func (p *path) switches() (list []*node) {
	for _, h := range p.hops {
		if h.node.isSwitch() {
			list = append(list, h.node)
		}
	}
	return list
}

// leaves returns the ports by which the path leaves nodes.
func (p *path) leaves() (list []*port) {
	for _, h := range p.hops {
		if h.out != nil && h.out.peer != nil {
			list = append(list, h.out)
		}
	}
	return list
}

// walk follows packets from an end port of the state's subnet to a LID, one link after another. An end port without a
// LID sends none.
func (s *state) walk(src *port, lid int) path {
	p := path{src: src, lid: lid, hops: []hop{{node: src.node}}}
	if src.lid == 0 {
		p.ends = deadEnd
		return p
	}
	if !src.node.isSwitch() {
		if s.net.owner[lid] == src {
			p.ends = delivered
			return p
		}
		p.hops[0].out = src
		p.hops = append(p.hops, hop{node: src.peer.node, in: src.peer})
	}
	passed := map[*node]bool{}
	for {
		last := &p.hops[len(p.hops)-1]
		if !last.node.isSwitch() {
			p.ends = misdelivered
			if s.net.owner[lid] == last.in {
				p.ends = delivered
			}
			break
		}
		if passed[last.node] {
			p.ends = loop
			return p
		}
		passed[last.node] = true
		row, read := s.lft[last.node.guid]
		num, has := row[lid]
		if !read {
			p.ends = unknown
			return p
		}
		if has && num == 0 {
			p.ends = misdelivered
			if s.net.owner[lid] == last.node.ports[0] {
				p.ends = delivered
			}
			break
		}
		out := last.node.ports[num]
		if !has || out == nil {
			p.ends = deadEnd
			return p
		}
		last.out = out
		p.hops = append(p.hops, hop{node: out.peer.node, in: out.peer})
	}
	if p.ends == delivered && p.links() > mostLinks {
		p.ends = tooLong
	}
	return p
}
