// SPDX-License-Identifier: Apache-2.0

package sim

import "example.org/ibconsole/fabric"

// Degrade makes both ends of a port's link run at another width and speed, which they report as active; what
// they have enabled stays. A port without a cable has no link: nothing happens.
func (s *Sim) Degrade(port fabric.PortIndex, width fabric.Width, speed fabric.Speed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	peer := s.peer(port)
	if peer == fabric.None {
		return
	}
	for _, i := range []fabric.PortIndex{port, peer} {
		a := &s.ports[i].info
		was := *a
		a.LinkSpeedExtActive, a.LinkSpeedExt2Active = 0, 0
		setLink(a, &fabric.Port{Width: width, Speed: speed})
		a.LinkWidthEnabled, a.LinkWidthSupported = was.LinkWidthEnabled, was.LinkWidthSupported
		a.LinkSpeedEnabled, a.LinkSpeedExtEnabled, a.LinkSpeedExt2Enabled = was.LinkSpeedEnabled, was.LinkSpeedExtEnabled, was.LinkSpeedExt2Enabled
		a.LinkSpeedSupported, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported = was.LinkSpeedSupported, was.LinkSpeedExtSupported, was.LinkSpeedExt2Supported
		s.ports[i].encode()
	}
}
