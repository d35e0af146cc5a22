package assemble

import (
	"time"

	"github.com/earshot-ai/earshot"
)

// A calendar writes times as people read them, in one zone.
type calendar struct {
	zone *time.Location
	name string // as the input has it
	year int    // the question's; dates of other years say the year
}

// local is t in the calendar's zone.
func (c calendar) local(t earshot.Time) time.Time { return time.UnixMicro(int64(t)).In(c.zone) }

// clock appends the time of day, 09:02.
func (c calendar) clock(b []byte, t earshot.Time) []byte {
	h, m, _ := c.local(t).Clock()
	return append(b, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10))
}

// A day is a number that all times of one day have in common.
type day int

func (c calendar) day(t earshot.Time) day {
	if c.zone == time.UTC && t >= 0 {
		return day(t / (24 * 3600 * 1e6))
	}
	y, m, d := c.local(t).Date()
	return day((y*16+int(m))*32 + d)
}

// date is the day, Mon 2 Mar, with the year where it is not the question's.
func (c calendar) date(t earshot.Time) string {
	at := c.local(t)
	if at.Year() != c.year {
		return at.Format("Mon 2 Jan 2006")
	}
	return at.Format("Mon 2 Jan")
}

// minute is date, time and zone, where nothing around says which day it is.
func (c calendar) minute(t earshot.Time) string {
	return c.local(t).Format("2006-01-02 15:04 ") + c.name
}

// short is a day without its weekday, 2 Mar.
func (c calendar) short(t earshot.Time) string {
	at := c.local(t)
	if at.Year() != c.year {
		return at.Format("2 Jan 2006")
	}
	return at.Format("2 Jan")
}
