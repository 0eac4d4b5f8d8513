// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// nodeName and portName are names that are looked up when they are printed.
type nodeName struct {
	s    *sweeper
	node int32
}

type portName struct {
	nodeName
	num uint8
}

func (n nodeName) String() string { return n.s.nameNow(n.node) }

func (p portName) String() string { return fmt.Sprintf("%s/%d", p.nodeName, p.num) }

func (s *sweeper) name(i int32) nodeName                { return nodeName{s, i} }
func (s *sweeper) portName(i int32, num uint8) portName { return portName{s.name(i), num} }

// nameNow is a node's description, escaped, or its GUID.
func (s *sweeper) nameNow(i int32) string {
	n := s.nodes[i]
	if text := n.text.String(); text != "" {
		return fabric.Escape(text)
	}
	return fmt.Sprintf("0x%016x", n.info.NodeGUID)
}
