// The mark of the product.
type BrandMarkProps = { className?: string | undefined };

export function BrandMark({ className }: BrandMarkProps) {
  return (
    <svg {...(className && { className })} width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="var(--ink)" />
      <path
        d="M5.500 15.200c2.600-6.600 4.700-7 5.100-3.500.3 3 2.300 3.500 4.100.3 1-1.800 2.300-3.300 3.800-4.300"
        fill="none"
        stroke="var(--text-on-ink)"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}
