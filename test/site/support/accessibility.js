// @ts-nocheck: this runs in a browser, whose names the rest of the project does not know.

/**
 * What keeps somebody from using the page that is open, in words; nothing is best. Looked at are structure, names, targets of links
 * and labels, sizes of what is pressed (WCAG 2.2, 2.5.8) and the contrast of all text (1.4.3).
 *
 * @returns {string[]}
 */
export function findFaults() {
  const faults = []
  const all = selector => [...document.querySelectorAll(selector)]
  const isShown = element => element.checkVisibility() && element.getBoundingClientRect().width > 1
  const tell = (element, fault) => faults.push(`${element.outerHTML.slice(0, 90).replace(/\s+/g, ' ')}: ${fault}`)

  // Structure
  if (document.documentElement.lang === '') faults.push('the page has no language')
  if (document.title.trim() === '') faults.push('the page has no title')
  for (const landmark of ['main', 'header', 'footer', 'h1'])
    if (all(landmark).length !== 1) faults.push(`${all(landmark).length} of ${landmark}`)
  let level = 0
  for (const heading of all('h1, h2, h3, h4, h5, h6')) {
    const next = Number(heading.tagName[1])
    if (next > level + 1) tell(heading, `comes after a heading of level ${level}`)
    level = next
  }
  for (const list of all('ul, ol'))
    if ([...list.children].some(item => item.tagName !== 'LI')) tell(list, 'holds more than items')
  for (const item of all('li')) if (!['UL', 'OL'].includes(item.parentElement.tagName)) tell(item, 'is in no list')

  // Names
  const wordsOf = element => (element?.textContent ?? '').trim()
  const nameOf = element =>
    element.getAttribute('aria-label')?.trim() ||
    (element.getAttribute('aria-labelledby') ?? '')
      .split(' ')
      .map(id => wordsOf(document.getElementById(id)))
      .join(' ')
      .trim() ||
    [...(element.labels ?? [])].map(wordsOf).join(' ') ||
    wordsOf(element)
  for (const element of all('a[href], button, input:not([type=hidden]), nav, section, aside'))
    if (nameOf(element) === '') tell(element, 'has no name')
  for (const image of all('img')) if (!image.hasAttribute('alt')) tell(image, 'has no alternative text')
  const names = all('nav').map(nameOf)
  for (const name of names) if (names.indexOf(name) !== names.lastIndexOf(name)) faults.push(`two navigations are called ${name}`)

  // Targets
  const ids = all('[id]').map(element => element.id)
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`the id ${id} is there twice`)
  for (const attribute of ['aria-labelledby', 'aria-describedby', 'for'])
    for (const element of all(`[${attribute}]`))
      for (const id of element.getAttribute(attribute).split(' '))
        if (!document.getElementById(id)) tell(element, `${attribute} leads nowhere`)
  for (const link of all('a[href^="#"]'))
    if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) tell(link, 'leads nowhere')

  // Sizes. Links in running text are as high as their line, and are let off by the standard.
  for (const element of all('a[href], button, input:not([type=hidden])')) {
    if (getComputedStyle(element).display === 'inline' || element.matches('.skip')) continue
    const { width, height } = element.getBoundingClientRect()
    if (isShown(element) && Math.min(width, height) < 24) tell(element, `is ${width} by ${height} pixels`)
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page is wider than its window')

  // Contrast
  const channelsOf = color => (color.match(/[\d.]+/g) ?? []).map(Number)
  const backgroundOf = element => {
    for (let around = element; around; around = around.parentElement) {
      const [red, green, blue, alpha = 1] = channelsOf(getComputedStyle(around).backgroundColor)
      if (alpha > 0) return [red, green, blue]
    }
    return [255, 255, 255]
  }
  const luminanceOf = channels => {
    const [red, green, blue] = channels
      .slice(0, 3)
      .map(value => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const checkContrast = (element, style) => {
    const [high, low] = [luminanceOf(channelsOf(style.color)), luminanceOf(backgroundOf(element))].sort(
      (left, right) => right - left,
    )
    const ratio = (high + 0.05) / (low + 0.05)
    const size = Number.parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (isLarge ? 3 : 4.5)) tell(element, `has a contrast of ${ratio.toFixed(2)}`)
  }
  let texts = 0
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.data.trim() === '' || !isShown(node.parentElement)) continue
    texts++
    checkContrast(node.parentElement, getComputedStyle(node.parentElement))
  }
  for (const input of all('input[placeholder]')) checkContrast(input, getComputedStyle(input, '::placeholder'))
  if (texts === 0) faults.push('the page has no text')
  return faults
}

/**
 * Takes away what repeats itself in the main part of the open page. Of each kind of element the first three stay, and all that others are in whose
 * kind is rare. Elements are of one kind when they and all around them have the same names, classes and roles.
 */
export function thinOut() {
  const MOST = 3
  const kinds = new Map()
  const kindOf = element => {
    const own = `${element.tagName}.${element.getAttribute('class') ?? ''}.${element.getAttribute('role') ?? ''}`
    return element.matches('main') ? own : `${kindOf(element.parentElement)} ${own}`
  }
  const kept = new Map()
  const countOf = element => kept.get(kinds.get(element)) ?? 0
  const all = [...document.querySelectorAll('main *')]
  for (const element of all) kinds.set(element, kindOf(element))
  for (const element of all) {
    if (!element.isConnected) continue
    const inside = [element, ...element.querySelectorAll('*')]
    if (inside.every(one => countOf(one) >= MOST)) element.remove()
    else kept.set(kinds.get(element), countOf(element) + 1)
  }
}
