// SPDX-License-Identifier: Apache-2.0

package mad

import "bytes"

// NodeDescription is the text that a node gives itself: 64 bytes, by IBA 14.2.5.2 in UTF-8. Whoever runs the
// node can put anything there; escape it before it goes to a terminal or a file.
type NodeDescription [DataSize]byte

// NewNodeDescription returns s as a description, cut after 64 bytes.
func NewNodeDescription(s string) NodeDescription {
	var d NodeDescription
	copy(d[:], s)
	return d
}

func (*NodeDescription) AttrID() AttrID { return AttrNodeDescription }

// String returns the bytes before the first NUL, as they are.
func (d *NodeDescription) String() string {
	text, _, _ := bytes.Cut(d[:], []byte{0})
	return string(text)
}

func (d *NodeDescription) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrNodeDescription, b); err != nil {
		return err
	}
	copy(d[:], b)
	return nil
}

func (d *NodeDescription) AppendBinary(dst []byte) ([]byte, error) { return append(dst, d[:]...), nil }
