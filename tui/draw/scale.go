// SPDX-License-Identifier: Apache-2.0

package draw

// Scale divides the values of a quantity into the five shades of cells.
type Scale struct {
	From  [5]float64 // the lowest value of each shade
	Words [5]string  // of the legend, "" for a shade that the legend leaves out
	// Warn is the first shade above a limit, and Bad the first far above the limit. Other values have no colour that
	// asks for attention.
	Warn, Bad int
}

// Shade returns the shade of a value, from 0 to 4.
func (s *Scale) Shade(v float64) int {
	at := 0
	for i := range s.From {
		if v >= s.From[i] {
			at = i
		}
	}
	return at
}

// Urgent reports whether a value is above a limit.
func (s *Scale) Urgent(v float64) bool { return s.Shade(v) >= s.Warn }

// Style returns the style of a value.
func (s *Scale) Style(t *Theme, v float64) Style { return s.style(t, s.Shade(v)) }

func (s *Scale) style(t *Theme, shade int) Style {
	switch {
	case shade >= s.Bad:
		return t.Bad
	case shade >= s.Warn:
		return t.Warn
	}
	return t.Good
}

// Legend writes the shades with their words, each after a gap of some columns.
func (s *Scale) Legend(p *Pen, gap int) {
	for i, word := range s.Words {
		if word != "" {
			p.Gap(gap)
			p.Put(s.style(p.Theme, i), p.Shades[i])
			p.Put(p.Dim, " "+word)
		}
	}
}

// Shaded writes the shade of a value in n cells.
func (p *Pen) Shaded(s *Scale, v float64, n int) {
	for range n {
		p.Put(s.Style(p.Theme, v), p.Shades[s.Shade(v)])
	}
}
