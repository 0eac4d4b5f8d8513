// SPDX-License-Identifier: Apache-2.0

package mad

import "fmt"

// PortState is the logical state of a port (IBA 14.2.5.6). In a Set request, PortNoChange means that the state remains.
type PortState uint8

// Logical states of a port.
const (
	PortNoChange PortState = 0
	PortDown     PortState = 1
	PortInit     PortState = 2
	PortArmed    PortState = 3
	PortActive   PortState = 4
)

// String returns the word that the diagnostic tools use for the state.
func (s PortState) String() string {
	return word([]string{"NoChange", "Down", "Initialize", "Armed", "Active"}, uint8(s))
}

// word returns the word for a code. If there is no word, it returns a text with the number.
func word(words []string, code uint8) string {
	if int(code) < len(words) {
		return words[code]
	}
	return fmt.Sprintf("?(%d)", code)
}

// PhysState is the physical state of a port, or the default state that a port takes when it has no link (IBA 14.2.5.6).
type PhysState uint8

// The physical states of a port. Only PhysSleep and PhysPolling can be the default state without a link.
const (
	PhysNoChange          PhysState = 0
	PhysSleep             PhysState = 1
	PhysPolling           PhysState = 2
	PhysDisabled          PhysState = 3
	PhysTraining          PhysState = 4
	PhysLinkUp            PhysState = 5
	PhysLinkErrorRecovery PhysState = 6
	PhysTest              PhysState = 7
)

// String returns the word that the diagnostic tools use for the state.
func (s PhysState) String() string {
	return word([]string{
		"NoChange", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
		"LinkErrorRecovery", "PhyTest",
	}, uint8(s))
}

// MTU is the code of an MTU (IBA 14.2.5.6). [MTU.Bytes] returns the size in bytes.
type MTU uint8

// MTU codes.
const (
	MTU256  MTU = 1
	MTU512  MTU = 2
	MTU1024 MTU = 3
	MTU2048 MTU = 4
	MTU4096 MTU = 5
)

// Bytes returns the MTU in bytes, 0 for an invalid code.
func (m MTU) Bytes() int {
	if m < MTU256 || m > MTU4096 {
		return 0
	}
	return 128 << m
}

// String returns the MTU as the diagnostic tools print it.
func (m MTU) String() string {
	if n := m.Bytes(); n > 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("?(%d)", uint8(m))
}

// VLs is a code for the number of data VLs of a port (IBA 14.2.5.6).
type VLs uint8

// Count returns the number of data VLs, 0 for an invalid code.
func (v VLs) Count() int {
	switch {
	case v >= 1 && v <= 4:
		return 1 << (v - 1)
	case v == 5:
		return 15
	}
	return 0
}

// String returns the number of VLs as the diagnostic tools print it.
func (v VLs) String() string {
	switch n := v.Count(); n {
	case 0:
		return fmt.Sprintf("?(%d)", uint8(v))
	case 1:
		return "VL0"
	default:
		return fmt.Sprintf("VL0-%d", n-1)
	}
}
