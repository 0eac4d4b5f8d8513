// SPDX-License-Identifier: Apache-2.0

package fabric

// LinkLimit is what a port allows its link: the widths and speeds that it is set to
// and those that it supports, the greatest of each, 0 where that is not known.
type LinkLimit struct {
	WidthEnabled, WidthSupported Width
	SpeedEnabled, SpeedSupported Speed
}

// Common is the most that both ends of a link allow.
func (l LinkLimit) Common(other LinkLimit) LinkLimit {
	return LinkLimit{
		min(l.WidthEnabled, other.WidthEnabled), min(l.WidthSupported, other.WidthSupported),
		min(l.SpeedEnabled, other.SpeedEnabled), min(l.SpeedSupported, other.SpeedSupported),
	}
}

// Known reports whether all of it is known.
func (l LinkLimit) Known() bool {
	return l.WidthEnabled != 0 && l.WidthSupported != 0 && l.SpeedEnabled != 0 && l.SpeedSupported != 0
}
