// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// DefaultGIDPrefix is the GID prefix of a subnet if no other prefix is configured.
const DefaultGIDPrefix uint64 = 0xfe80 << 48

// GID is the address of a port or of a multicast group (IBA 4.1.1). The GID of a port consists of a prefix and a GUID.
type GID [16]byte

// NewGID returns the GID of a port.
func NewGID(prefix, guid uint64) (g GID) {
	binary.BigEndian.PutUint64(g[:8], prefix)
	binary.BigEndian.PutUint64(g[8:], guid)
	return g
}

// ParseGID parses a GID in the form of an IPv6 address.
func ParseGID(s string) (GID, error) {
	a, err := netip.ParseAddr(s)
	if err == nil && (!a.Is6() || a.Zone() != "") {
		err = fmt.Errorf("%q is not an IPv6 address", s)
	}
	if err != nil {
		return GID{}, fmt.Errorf("parse GID: %w", err)
	}
	return a.As16(), nil
}

// Prefix returns the upper half of the GID. For the GID of a port it is the prefix of the subnet.
func (g GID) Prefix() uint64 { return binary.BigEndian.Uint64(g[:8]) }

// GUID returns the lower half of the GID. For the GID of a port it is one of the port's GUIDs.
func (g GID) GUID() uint64 { return binary.BigEndian.Uint64(g[8:]) }

// IsMulticast reports whether the GID is that of a multicast group.
func (g GID) IsMulticast() bool { return g[0] == 0xff }

// String returns the GID as an IPv6 address, as the diagnostic tools print it, for example fe80::2:c903:a0:1.
func (g GID) String() string { return netip.AddrFrom16(g).String() }
